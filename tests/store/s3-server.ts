// As much of S3 as the bucket of the bars uses, in memory: objects by path, and signatures that are checked (AWS Signature
// Version 4, as its documentation describes it).

import { createHash, createHmac } from 'node:crypto'

export interface S3Server {
  /** For a bucket of this name, with the right key. */
  address(bucket: string, change?: { readonly secret?: string; readonly prefix?: string }): string
  /** Objects by `/bucket/name`. */
  readonly objects: Map<string, Uint8Array>
  /** Of every request that was answered, method and path. */
  readonly requests: string[]
  /** Answers 503 to everything. */
  isAway: boolean
  stop(): void
}

const KEY_ID = 'AKIDEXAMPLE'
const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'

export function startS3(): S3Server {
  const objects = new Map<string, Uint8Array>()
  const requests: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      requests.push(`${request.method} ${pathname}`)
      if (state.isAway) return refusal(503, 'ServiceUnavailable')
      const body = new Uint8Array(await request.arrayBuffer())
      const wrong = mistakeOf(request, body)
      if (wrong !== null) return refusal(403, wrong)
      if (pathname.startsWith('/missing/')) return refusal(404, 'NoSuchBucket')
      const path = decodeURIComponent(pathname)
      const object = objects.get(path)
      switch (request.method) {
        case 'PUT':
          objects.set(path, body)
          return new Response(null, {
            headers: { etag: `"${createHash('md5').update(body).digest('hex')}"` },
          })
        case 'DELETE':
          objects.delete(path)
          return new Response(null, { status: 204 })
        default:
          return object ? new Response(object.slice()) : refusal(404, 'NoSuchKey')
      }
    },
  })
  const endpoint = `http://127.0.0.1:${server.port}`
  const state: S3Server = {
    objects,
    requests,
    isAway: false,
    address: (bucket, { secret = SECRET, prefix = 'bars' } = {}) =>
      `s3://${KEY_ID}:${encodeURIComponent(secret)}@${bucket}/${prefix}?endpoint=${endpoint}&region=eu-1`,
    stop: () => void server.stop(true),
  }
  return state
}

function refusal(status: number, code: string): Response {
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
    { status, headers: { 'content-type': 'application/xml' } },
  )
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** The code of the refusal; null: the signature is right. */
function mistakeOf(request: Request, body: Uint8Array): string | null {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, ?SignedHeaders=([\w;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      request.headers.get('authorization') ?? '',
    )
  if (!found) return 'AccessDenied'
  const [, keyId = '', day = '', region = '', signed = '', signature = ''] = found
  if (keyId !== KEY_ID) return 'InvalidAccessKeyId'
  const hash = request.headers.get('x-amz-content-sha256') ?? ''
  if (hash !== 'UNSIGNED-PAYLOAD' && hash !== sha256(body)) return 'XAmzContentSHA256Mismatch'
  const url = new URL(request.url)
  const query = [...url.searchParams]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join('&')
  const headers = signed
    .split(';')
    .map((name) => `${name}:${(request.headers.get(name) ?? '').trim()}\n`)
    .join('')
  const canonical = [request.method, url.pathname, query, headers, signed, hash].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', request.headers.get('x-amz-date') ?? '', scope, sha256(canonical)].join(
    '\n',
  )
  const key = ['s3', 'aws4_request'].reduce(
    (above, part) => hmac(above, part),
    hmac(hmac(`AWS4${SECRET}`, day), region),
  )
  return hmac(key, text).toString('hex') === signature ? null : 'SignatureDoesNotMatch'
}
