// What the address of an S3-compatible bucket says: `s3://KEY:SECRET@bucket/prefix?endpoint=https://…&region=…`. Where a store wants
// the bucket in its host name, `&style=virtual` says so; `&token=…` is the session token of a key for a time.

interface BucketAddress {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly bucket: string
  /** '' or a path that ends with a slash. */
  readonly prefix: string
  readonly endpoint: string | null
  readonly region: string | null
  /** The endpoint names the bucket, and paths do not. */
  readonly virtualHostedStyle: boolean
  /** '' = that of the environment (AWS_SESSION_TOKEN), if there is one: Bun sends it with any key. */
  readonly sessionToken: string
}

/** Throws a sentence that says what is expected. */
export function parseBucket(text: string): BucketAddress {
  const url = URL.parse(text)
  const endpoint = url?.searchParams.get('endpoint') ?? null
  if (url?.protocol !== 's3:' || url.hostname === '' || url.username === '' || url.password === '')
    throw new Error(
      'expected an address like s3://KEY:SECRET@bucket/prefix?endpoint=https://s3.example.com&region=eu-1, with / and + in the secret as %2F and %2B',
    )
  const host = endpoint === null ? null : URL.parse(endpoint)
  if (endpoint !== null && (!/^https?:$/.test(host?.protocol ?? '') || host?.username || host?.search))
    throw new Error('expected the endpoint in the address to be like https://s3.example.com')
  const style = url.searchParams.get('style') ?? 'path'
  if (style !== 'path' && style !== 'virtual')
    throw new Error('expected style=path or style=virtual in the address')
  const isVirtual = style === 'virtual'
  const prefix = url.pathname.replaceAll(/^\/+|\/+$/g, '')
  return {
    accessKeyId: decodeURIComponent(url.username),
    secretAccessKey: decodeURIComponent(url.password),
    bucket: url.hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint: host && isVirtual ? `${host.protocol}//${url.hostname}.${host.host}` : endpoint,
    region: url.searchParams.get('region'),
    virtualHostedStyle: isVirtual,
    sessionToken: url.searchParams.get('token') ?? '',
  }
}
