// What the address of an S3-compatible bucket says: `s3://KEY:SECRET@bucket/prefix?endpoint=https://…&region=…`.

interface BucketAddress {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly bucket: string
  /** '' or a path that ends with a slash. */
  readonly prefix: string
  readonly endpoint: string | null
  readonly region: string | null
}

/** Throws a sentence that says what is expected. */
export function parseBucket(text: string): BucketAddress {
  const url = URL.parse(text)
  const endpoint = url?.searchParams.get('endpoint') ?? null
  if (url?.protocol !== 's3:' || url.hostname === '' || url.username === '' || url.password === '')
    throw new Error(
      'expected an address like s3://KEY:SECRET@bucket/prefix?endpoint=https://s3.example.com&region=eu-1, with / and + in the secret as %2F and %2B',
    )
  if (endpoint !== null && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    throw new Error('expected the endpoint in the address to be like https://s3.example.com')
  const prefix = url.pathname.replaceAll(/^\/+|\/+$/g, '')
  return {
    accessKeyId: decodeURIComponent(url.username),
    secretAccessKey: decodeURIComponent(url.password),
    bucket: url.hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint,
    region: url.searchParams.get('region'),
  }
}
