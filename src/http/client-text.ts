// The typed client: one TypeScript file without dependencies, generated from the OpenAPI document and thus from the schemas
// that also validate. It is served at /api/client.ts and built into dist/client.ts (the package's `chartroom/client`).
//
//     const chartroom = new Chartroom({ baseUrl: 'http://127.0.0.1:3000', token: 'crm_pat_…' })
//     const { alert } = await chartroom.call('POST /api/platform/alerts', { body: { symbol: 'SPX', … } })

/** A JSON Schema, or a part of one. */
export type Json = Readonly<Record<string, unknown>>

/** What the clients read of an operation in the OpenAPI document. */
export interface Operation {
  readonly summary?: string
  readonly parameters: readonly {
    readonly name: string
    readonly in: 'path' | 'query' | 'header'
    readonly required: boolean
    readonly schema: Json
  }[]
  readonly requestBody?: { readonly content: { readonly 'application/json'?: { readonly schema: Json } } }
  readonly responses: {
    readonly 200: { readonly content?: { readonly 'application/json': { readonly schema: Json } } }
  }
}
export interface Document {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}

/** The client's TypeScript source for `document`. */
export function clientText(document: object): string {
  const { info, paths, components } = document as Document
  const types = Object.entries(components.schemas)
    .filter(([name]) => name !== 'Error')
    .map(([name, schema]) => `export type ${name}Json = ${typeOf(schema)}`)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      operationText(`${method.toUpperCase()} ${path}`, operation),
    ),
  )
  return [
    `// Chartroom ${info.version}: a typed client of its HTTP API. Written by the server; do not edit.`,
    ...types,
    `export interface Operations {\n${operations.join('\n')}\n}`,
    RUNTIME,
    COLUMNS,
  ].join('\n\n')
}

function operationText(
  name: string,
  { summary = '', parameters, requestBody, responses }: Operation,
): string {
  const parts = (['path', 'query'] as const).flatMap((place) => {
    const found = parameters.filter((parameter) => parameter.in === place)
    if (found.length === 0) return []
    const fields = found.map(
      (one) => `${key(one.name)}${one.required ? '' : '?'}: ${queryType(typeOf(one.schema))}`,
    )
    return [`${place}${found.some((one) => one.required) ? '' : '?'}: { ${fields.join('; ')} }`]
  })
  const body = requestBody?.content['application/json']?.schema
  // A file is given whole.
  if (requestBody) parts.push(`body: ${body ? typeOf(body) : 'Blob | ArrayBuffer'}`)
  const answer = responses[200].content?.['application/json'].schema
  return `  /** ${summary} */\n  ${JSON.stringify(name)}: { args: { ${parts.join('; ')} }; answer: ${answer ? typeOf(answer) : 'unknown'} }`
}

/** A query parameter may be given as a number instead of a text. */
const queryType = (type: string) => (type === 'string' ? 'string | number' : type)

/** A property's name, quoted unless it is an identifier. */
const key = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

function typeOf(schema: Json): string {
  const reference = schema['$ref']
  if (typeof reference === 'string') return `${reference.split('/').at(-1)}Json`
  if ('const' in schema) return JSON.stringify(schema['const'])
  const values = schema['enum'] as unknown[] | undefined
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  const variants = schema['anyOf'] as Json[] | undefined
  if (variants) return variants.map(typeOf).join(' | ')
  switch (schema['type']) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema['type']
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return `(${typeOf((schema['items'] ?? {}) as Json)})[]`
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

function objectType(schema: Json): string {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Json>)
  const record = Object.values((schema['patternProperties'] ?? {}) as Record<string, Json>)[0]
  if (properties.length === 0) return `Record<string, ${record ? typeOf(record) : 'unknown'}>`
  const required = new Set((schema['required'] ?? []) as string[])
  return `{ ${properties.map(([name, value]) => `${key(name)}${required.has(name) ? '' : '?'}: ${typeOf(value)}`).join('; ')} }`
}

const RUNTIME = `export interface ChartroomOptions {
  /** Where the server is: http://127.0.0.1:3000 */
  readonly baseUrl: string
  /** A personal access token; not needed in a page of the server itself. */
  readonly token?: string
  readonly fetch?: (input: string, init: RequestInit) => Promise<Response>
}

/** The server said no. \`code\` is stable; \`fields\` name what was wrong with the request. */
export class ChartroomError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string
  readonly fields: readonly { in: string; path: string; code: string; message: string }[]
  /** Seconds after which to try again, where the server said. */
  readonly retryAfter: number | null
  constructor(status: number, error: { code?: string; message?: string; requestId?: string; fields?: ChartroomError['fields']; retryAfter?: number } = {}) {
    super(error.message ?? \`HTTP \${status}\`)
    this.name = 'ChartroomError'
    this.status = status
    this.code = error.code ?? 'unknown'
    this.requestId = error.requestId ?? ''
    this.fields = error.fields ?? []
    this.retryAfter = error.retryAfter ?? null
  }
}

const isFile = (body: unknown): body is Blob | ArrayBuffer => body instanceof Blob || body instanceof ArrayBuffer

type NoArgs<T> = {} extends T ? [args?: T & CallOptions] : [args: T & CallOptions]
export interface CallOptions {
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

export class Chartroom {
  readonly options: ChartroomOptions
  constructor(options: ChartroomOptions) {
    this.options = options
  }

  /** Calls an operation by method and path. Rejects with ChartroomError. */
  async call<K extends keyof Operations>(operation: K, ...[given]: NoArgs<Operations[K]['args']>): Promise<Operations[K]['answer']> {
    const args = (given ?? {}) as { path?: Record<string, unknown>; query?: Record<string, unknown>; body?: unknown } & CallOptions
    const [method = 'GET', template = '/'] = operation.split(' ')
    const path = template.replace(/\\{(\\w+)\\}/g, (_whole, name: string) => encodeURIComponent(String(args.path?.[name] ?? '')))
    const url = new URL(this.options.baseUrl.replace(/\\/$/, '') + path)
    for (const [name, value] of Object.entries(args.query ?? {})) if (value !== undefined && value !== null) url.searchParams.set(name, String(value))
    const { token, fetch: send = fetch } = this.options
    const response = await send(url.href, {
      method,
      headers: {
        accept: \`\${COLUMNS_TYPE}, application/json\`,
        ...(token !== undefined && { authorization: \`Bearer \${token}\` }),
        ...(args.body !== undefined && { 'content-type': isFile(args.body) ? 'application/octet-stream' : 'application/json' }),
        ...args.headers,
      },
      ...(args.body !== undefined && { body: isFile(args.body) ? args.body : JSON.stringify(args.body) }),
      ...(args.signal && { signal: args.signal }),
    })
    const read = response.headers.get('content-type') === COLUMNS_TYPE ? response.arrayBuffer().then(decodeColumns) : response.json()
    const answer = (await read.catch(() => null)) as { error?: ConstructorParameters<typeof ChartroomError>[1] } | null
    if (!response.ok) throw new ChartroomError(response.status, answer?.error)
    return answer as Operations[K]['answer']
  }
}
`

/** A copy of `wire/columns.ts`, because the generated file must stand alone; a test compares the two. */
const COLUMNS = `const COLUMNS_TYPE = 'application/vnd.chartroom.columns'

interface Column {
  readonly at: readonly (string | number)[]
  readonly type: 'f64' | 'i32' | 'i16' | 'i8'
  readonly length: number
  readonly scale?: number
  readonly from?: number
  readonly values?: readonly unknown[]
}

/** Makes of an answer as columns what JSON.parse makes of the JSON. */
export function decodeColumns(buffer: ArrayBuffer): unknown {
  const view = new DataView(buffer)
  if (buffer.byteLength < 8 || view.getUint32(0, true) !== 0x31435243) throw new Error('expected an answer as columns')
  let offset = 8 + view.getUint32(4, true)
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, offset - 8))) as {
    answer: unknown
    columns: readonly Column[]
    tables: readonly { at: Column['at']; length: number; fields: readonly Column[] }[]
  }
  const next = ({ type, length, scale = 1, from, values }: Column): unknown[] => {
    const Numbers = { f64: Float64Array, i32: Int32Array, i16: Int16Array, i8: Int8Array }[type]
    const items = new Numbers(buffer, offset, length)
    offset += Math.ceil(items.byteLength / 8) * 8
    const none = -(2 ** (items.BYTES_PER_ELEMENT * 8 - 1))
    let sum = from ?? 0
    return Array.from(items, (item) => {
      if (values) return values[item]
      if (from !== undefined) return (sum += item) / scale
      return item !== item || (type !== 'f64' && item === none) ? null : item / scale
    })
  }
  const root = { answer: header.answer }
  const put = (object: object, path: readonly (string | number)[], value: unknown) => {
    let place = object as Record<string | number, unknown>
    for (const name of path.slice(0, -1)) place = place[name] as Record<string | number, unknown>
    place[path[path.length - 1] ?? ''] = value
  }
  for (const column of header.columns) put(root, ['answer', ...column.at], next(column))
  for (const { at, length, fields } of header.tables) {
    const rows = Array.from({ length }, (): Record<string, unknown> => ({}))
    for (const field of fields) {
      const values = next(field)
      rows.forEach((row, i) => put(row, field.at, values[i]))
    }
    put(root, ['answer', ...at], rows)
  }
  return root.answer
}
`
