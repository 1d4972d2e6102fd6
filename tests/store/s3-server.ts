// As much of S3 as the bucket of the bars and the continuous backup use, in memory: objects by path, lists by prefix in pages,
// and signatures that are checked (AWS Signature Version 4, as its documentation describes it).

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
  /** Asked before each request is carried out: the code of a refusal, or null. What it waits for, the request waits for. */
  before: (method: string, path: string) => Promise<string | null>
  /** What its clock is ahead of ours, in ms. */
  skewMs: number
  stop(): void
}

const KEY_ID = 'AKIDEXAMPLE'
const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'

/** Pages are short, so that every list of a few objects has several. */
const PAGE = 7

export function startS3(objects = new Map<string, Uint8Array>(), page = PAGE): S3Server {
  const requests: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      requests.push(`${request.method} ${pathname}`)
      if (state.isAway) return refusal(503, 'ServiceUnavailable')
      const body = new Uint8Array(await request.arrayBuffer())
      const fault = await state.before(request.method, pathname)
      if (fault !== null) return refusal(fault === 'SlowDown' ? 503 : 403, fault)
      const wrong = mistakeOf(request, body) ?? skewOf(request, state.skewMs)
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
          if (new URL(request.url).searchParams.has('list-type'))
            return listOf(objects, new URL(request.url), page)
          return object ? new Response(object.slice()) : refusal(404, 'NoSuchKey')
      }
    },
  })
  const endpoint = `http://127.0.0.1:${server.port}`
  const state: S3Server = {
    objects,
    requests,
    isAway: false,
    before: async () => null,
    skewMs: 0,
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

/** ListObjectsV2; a token is the name after which to go on. */
function listOf(
  objects: ReadonlyMap<string, Uint8Array>,
  { pathname, searchParams }: URL,
  most: number,
): Response {
  const bucket = `${decodeURIComponent(pathname).replace(/\/$/, '')}/`
  const prefix = searchParams.get('prefix') ?? ''
  const after = searchParams.get('continuation-token') ?? ''
  const names = [...objects.keys()]
    .filter((path) => path.startsWith(bucket + prefix))
    .map((path) => path.slice(bucket.length))
    .filter((name) => name > after)
    .sort()
  // Nobody asks for the size.
  const page = names.slice(0, most)
  const isTruncated = names.length > most
  const contents = page.map(
    (name) =>
      `<Contents><Key>${name}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"0"</ETag><Size>1</Size><StorageClass>STANDARD</StorageClass></Contents>`,
  )
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${bucket.slice(1, -1)}</Name><Prefix>${prefix}</Prefix><KeyCount>${page.length}</KeyCount><MaxKeys>${most}</MaxKeys><IsTruncated>${isTruncated}</IsTruncated>${contents.join('')}${isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''}</ListBucketResult>`,
    { headers: { 'content-type': 'application/xml' } },
  )
}

/** S3 refuses what was signed more than a quarter of an hour ago, or later than now. */
function skewOf(request: Request, skewMs: number): string | null {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(request.headers.get('x-amz-date') ?? '') ?? []
  const signed = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Math.abs(Date.now() + skewMs - signed) > 900_000 ? 'RequestTimeTooSkewed' : null
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
