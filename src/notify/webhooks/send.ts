// Makes one attempt over the network: a request to a checked address, and its answer, bounded in time and size.
//
// The connection goes to the address that was checked, while Host, SNI and the certificate's name stay the URL's. No
// redirect is followed (it would leave the checked address), no proxy is used, nothing is decompressed, and at most 20 kB
// of the answer are read, unless more is asked for.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

export interface Attempt {
  readonly url: URL
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The remaining time of the attempt; the limits below hold as well. */
  readonly budgetMs: number
  /** How much of the answer its excerpt has, where that is more than 4 kB. It counts then, and is waited for. */
  readonly excerptBytes?: number
}

export interface Reply {
  /** The HTTP status; 0 if there was none. */
  readonly status: number
  readonly retryAfter: string | null
  /** The head of the answer; missing if there was none. */
  readonly headers?: IncomingHttpHeaders
  /** The first 4 kB, or as much as was asked for, as text. */
  readonly excerpt: string
  /** Why there is no status: `timeout`, `connection_refused`, `connection_reset`, `tls`, `network`, `not_the_service`, `wrong_setting`. */
  readonly failure: string | null
  /** What else there is to say of the attempt. */
  readonly note?: string
}
export const NO_REPLY: Reply = { status: 0, retryAfter: null, excerpt: '', failure: null }

/** A secret was sealed with another key than the one in the key file. */
export class UnreadableSecret extends Error {
  constructor(noun: string) {
    super(
      `The secret of this ${noun} cannot be read with this server’s key file. Delete it and ${noun === 'webhook' ? 'register it' : 'set it up'} again.`,
    )
  }
}

export type Send = (attempt: Attempt) => Promise<Reply>

export interface SendLimits {
  readonly connectMs: number
  readonly totalMs: number
}
/** Where only the status counts, the body is not waited for longer than this. */
const ANSWER_MS = 2000
const READ_BYTES = 20 * 1024
export const EXCERPT_BYTES = 4096

/** Node's client is loaded with the first attempt, since loading it is a tenth of a start. */
export function createSend(limits: SendLimits = { connectMs: 5000, totalMs: 15_000 }): Send {
  return ({ url, address, method, headers, body, budgetMs, excerptBytes = EXCERPT_BYTES }) =>
    new Promise((settle) => {
      const secure = url.protocol === 'https:'
      let done = false
      const finish = (answer: Partial<Reply>) => {
        if (done) return
        done = true
        clearTimeout(connectTimer)
        clearTimeout(totalTimer)
        request.destroy()
        settle({ status: 0, retryAfter: null, excerpt: '', failure: null, ...answer })
      }
      const name = url.hostname.replace(/^\[|\]$/g, '')
      const options = {
        host: address,
        port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
        path: url.pathname + url.search,
        method,
        agent: false,
        headers: {
          ...headers,
          host: url.host,
          'content-length': String(body.length),
          'accept-encoding': 'identity',
          connection: 'close',
        },
        ...(secure && (isIP(name) ? {} : { servername: name })),
      }
      const { request: requestBy } = process.getBuiltinModule(secure ? 'node:https' : 'node:http')
      const request = requestBy(options, onAnswer)
      let late = () => finish({ failure: 'timeout' })
      const totalMs = Math.min(limits.totalMs, budgetMs)
      const connectTimer = setTimeout(() => late(), Math.min(limits.connectMs, totalMs))
      const totalTimer = setTimeout(() => late(), totalMs)
      request.on('socket', (socket) => {
        socket.once(secure ? 'secureConnect' : 'connect', () => clearTimeout(connectTimer))
      })
      request.on('error', (error: NodeJS.ErrnoException) => finish({ failure: reasonOf(error) }))
      request.end(body)

      function onAnswer(answer: IncomingMessage) {
        clearTimeout(connectTimer)
        const chunks: Buffer[] = []
        let size = 0
        const status = answer.statusCode ?? 0
        const retryAfter = answer.headers['retry-after'] ?? null
        const whole = () =>
          finish({
            status,
            retryAfter,
            headers: answer.headers,
            excerpt: Buffer.concat(chunks).subarray(0, excerptBytes).toString('utf8'),
          })
        answer.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          size += chunk.length
          if (size >= Math.max(READ_BYTES, excerptBytes)) whole()
        })
        answer.on('end', whole)
        // Once the status is known, a connection that breaks or stalls does not change the receiver's answer.
        late = whole
        if (excerptBytes === EXCERPT_BYTES) setTimeout(whole, ANSWER_MS).unref()
        answer.on('error', whole)
        answer.on('aborted', whole)
      }
    })
}

function reasonOf(error: NodeJS.ErrnoException): string {
  const code = error.code ?? ''
  if (code === 'ECONNREFUSED' || code === 'ConnectionRefused') return 'connection_refused'
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'ConnectionClosed') return 'connection_reset'
  if (
    /CERT|SSL|TLS|SIGNATURE|ALTNAME|SELF_SIGNED|UNABLE_TO/i.test(code) ||
    /certificate|handshake/i.test(error.message)
  )
    return 'tls'
  return 'network'
}
