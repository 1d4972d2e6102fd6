// A stored report and its tracks, on their way into a worker: part by part, since they may be a hundred megabytes.

import type { StoredHost, StoredText } from './job.ts'
import type { Desk } from './worker-loop.ts'

/** In the worker: the value of the JSON text. */
export async function storedValue(host: Pick<Desk['host'], 'part'>, what: StoredText): Promise<unknown> {
  const parts: string[] = []
  for (let part = await host.part(what); part !== null; part = await host.part(what)) parts.push(part)
  return JSON.parse(parts.join(''))
}

/** On the server's side: parts are read when they are asked for. */
export function storedHost(texts: Readonly<Partial<Record<StoredText, AsyncIterable<string>>>>): StoredHost {
  const reading = {
    report: texts.report?.[Symbol.asyncIterator](),
    tracks: texts.tracks?.[Symbol.asyncIterator](),
  }
  return {
    async part(what) {
      const next = await reading[what]?.next()
      return !next || next.done ? null : next.value
    },
  }
}
