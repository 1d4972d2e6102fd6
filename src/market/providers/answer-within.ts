// A connection that is open and says nothing would hold up all that its provider is asked for, so an answer has to be there,
// whole, within a time.

import type { Clock } from '../../lib/clock.ts'
import type { Http } from './provider.ts'

export function answerWithin(http: Http, clock: Clock, ms: number): Http {
  return async (url, signal, body, headers) => {
    const over = new AbortController()
    const late = new AbortController()
    const tooLate = clock.sleep(ms, over.signal).then((): never => {
      const error = new Error(`no answer within ${Math.round(ms / 1000)} s`)
      if (!over.signal.aborted) late.abort(error)
      throw error
    })
    const within = signal ? AbortSignal.any([signal, late.signal]) : late.signal
    const whole = async () => {
      const response = await http(url, within, body, headers)
      return new Response(await response.arrayBuffer(), response)
    }
    try {
      return await Promise.race([whole(), tooLate])
    } finally {
      over.abort()
    }
  }
}
