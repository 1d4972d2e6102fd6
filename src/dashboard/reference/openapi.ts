// The OpenAPI document as the reference shows it: operations by resource, fields as rows, an example of a request.

/** A JSON Schema, as far as ours go. */
export interface Schema {
  readonly $ref?: string
  /** Two in a document as it is served: `["string", "null"]`. */
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Named<Schema>
  readonly patternProperties?: Named<Schema>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

type Named<T> = Readonly<Record<string, T>>
type Content = Named<{ readonly schema: Schema }>

interface DocumentedOperation {
  readonly summary: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly security?: readonly object[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}

export interface OpenApi {
  readonly info: { readonly description: string }
  /** Of operations that name none of their own. */
  readonly security?: readonly object[]
  readonly paths: Named<Named<DocumentedOperation>>
  readonly webhooks?: Named<Named<DocumentedOperation>>
  readonly components: {
    readonly schemas: Named<Schema>
    readonly parameters?: Named<Parameter>
    readonly responses?: DocumentedOperation['responses']
  }
}

/**
 * The document with each operation whole, as one reads it: parameters and answers that operations share stand in their place, and
 * so do shapes, but for objects, which keep their names. `deep` puts objects in their place, too, unless they hold themselves.
 */
export function expanded(document: OpenApi, { deep = false } = {}): OpenApi {
  const { components, security } = document
  const of = <T>(shared: Named<T> | undefined, value: T): T =>
    shared?.[nameOf(value as Schema) ?? ''] ?? value
  const content = (all: Content): Content => mapped(all, (one) => ({ ...one, schema: plain(one.schema, []) }))
  const plain = (schema: Schema, above: readonly string[]): Schema => {
    const name = nameOf(schema)
    if (name === null) return within(schema, above)
    const found = components.schemas[name] ?? {}
    const isKept = above.includes(name) || (!deep && objectIn(found, document) === found)
    return isKept ? (deep ? {} : schema) : within(found, [...above, name])
  }
  const within = (schema: Schema, above: readonly string[]): Schema => {
    const { type, ...rest } = schema
    const inner = (one: Schema) => plain(one, above)
    const { anyOf, oneOf, items, properties, patternProperties } = rest
    const whole = {
      ...rest,
      ...(anyOf && { anyOf: anyOf.map(inner) }),
      ...(oneOf && { oneOf: oneOf.map(inner) }),
      ...(items && { items: inner(items) }),
      ...(properties && { properties: mapped(properties, inner) }),
      ...(patternProperties && { patternProperties: mapped(patternProperties, inner) }),
    }
    if (typeof type === 'string') return { ...whole, type }
    const variants = type
      ? type.map((one): Schema => (one === 'null' ? { type: one } : { ...whole, type: one }))
      : whole.anyOf
    // What a value or null means stands with the value, or with the choice.
    const [value, none, more] = variants ?? []
    if (!value || none?.type !== 'null' || more) return whole
    const { description = value.description, ...choice } = type ? { description: whole.description } : whole
    const { description: _told, ...bare } = value
    return { ...choice, ...(description !== undefined && { description }), anyOf: [bare, none] }
  }
  const operation = (one: DocumentedOperation): DocumentedOperation => ({
    ...(security && { security }),
    ...one,
    parameters: (one.parameters ?? []).map((given) => {
      const parameter = of(components.parameters, given)
      return { ...parameter, schema: plain(parameter.schema, []) }
    }),
    ...(one.requestBody && {
      requestBody: { ...one.requestBody, content: content(one.requestBody.content) },
    }),
    responses: mapped(one.responses, (given) => {
      const answer = of(components.responses, given)
      return { ...answer, ...(answer.content && { content: content(answer.content) }) }
    }),
  })
  const each = (paths: OpenApi['paths']) => mapped(paths, (methods) => mapped(methods, operation))
  const schemas = mapped(components.schemas, (schema, name) => within(schema, [name]))
  return {
    ...document,
    paths: each(document.paths),
    ...(document.webhooks && { webhooks: each(document.webhooks) }),
    components: { ...components, schemas },
  }
}

/** The same names, with other values. */
const mapped = <T, U>(all: Named<T>, change: (value: T, name: string) => U) =>
  Object.fromEntries(Object.entries(all).map(([name, value]) => [name, change(value, name)]))

export interface Operation extends DocumentedOperation {
  /** `POST`; of an event that is sent, `EVENT`. */
  readonly method: string
  readonly path: string
}

export interface Group {
  readonly name: string
  readonly operations: readonly Operation[]
}

export const EVENTS = 'Events sent to webhooks'

/** Operations by resource, in the document's order; the events come last. */
export function groupsOf({ paths, webhooks = {} }: OpenApi): readonly Group[] {
  const groups = new Map<string, Operation[]>()
  const add = (name: string, operation: Operation) =>
    groups.set(name, [...(groups.get(name) ?? []), operation])
  for (const [path, methods] of Object.entries(paths))
    for (const [method, one] of Object.entries(methods))
      add(one.tags?.[0] ?? 'Other', { ...one, method: method.toUpperCase(), path })
  for (const [path, methods] of Object.entries(webhooks))
    for (const one of Object.values(methods)) add(EVENTS, { ...one, method: 'EVENT', path })
  return [...groups].map(([name, operations]) => ({ name, operations }))
}

/** The operations in which every word is found, in path, summary or resource. */
export function found(groups: readonly Group[], words: string): readonly Group[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  return groups
    .map(({ name, operations }) => ({
      name,
      operations: operations.filter((one) => {
        const text = `${one.method} ${one.path} ${one.summary} ${name}`.toLowerCase()
        return wanted.every((word) => text.includes(word))
      }),
    }))
    .filter(({ operations }) => operations.length > 0)
}

export const anchorOf = ({ method, path }: Pick<Operation, 'method' | 'path'>): string =>
  `${method}-${path}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '')

/** The schema behind a reference. */
export function resolved(schema: Schema, { components }: OpenApi): Schema {
  const name = nameOf(schema)
  return name === null ? schema : (components.schemas[name] ?? {})
}

const nameOf = ({ $ref }: Schema): string | null => $ref?.slice($ref.lastIndexOf('/') + 1) ?? null

/** What a value may be: `"buy" or "sell"`, `integer or null`, `Alert[]`. */
export function typeText(schema: Schema): string {
  const name = nameOf(schema)
  if (name !== null) return name
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return [...new Set(choices.map(typeText))].join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' or ')
  if (schema.type === 'array') {
    const of = typeText(schema.items ?? {})
    return of.includes(' or ') ? `(${of})[]` : `${of}[]`
  }
  return typeof schema.type === 'string' ? schema.type : 'any value'
}

/** Its bounds as a person says them; '' where there are none. */
export function boundsText(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema
  const span = (least: number | undefined, most: number | undefined, of: string) => {
    if (most === undefined) return least ? [`at least ${least}${of}`] : []
    return [`${least ? `${least} to` : 'at most'} ${most.toLocaleString('en')}${of}`]
  }
  const bounds = [
    ...(minimum === undefined || Math.abs(minimum) > 1e15 ? [] : [`from ${minimum}`]),
    ...(maximum === undefined || Math.abs(maximum) > 1e15 ? [] : [`to ${maximum.toLocaleString('en')}`]),
    ...span(minLength, maxLength, ' characters'),
    ...span(minItems, maxItems, ' items'),
    ...(pattern === undefined ? [] : [pattern]),
  ]
  return bounds.join(', ')
}

export interface FieldRow {
  readonly name: string
  readonly type: string
  readonly bounds: string
  readonly meaning: string
  readonly required: boolean
  /** The fields of an object, or of an array's objects; what refers to itself has none. */
  readonly fields: readonly FieldRow[]
}

/** The fields of an object, those of the objects in it below them. */
export function fieldsOf(
  schema: Schema,
  document: OpenApi,
  above: readonly Schema[] = [],
): readonly FieldRow[] {
  const object = objectIn(schema, document)
  if (!object?.properties || above.includes(object)) return []
  return Object.entries(object.properties).map(([name, field]) => ({
    name,
    type: typeText(field),
    bounds: boundsText(valueIn(field)),
    meaning: field.description ?? '',
    required: object.required?.includes(name) ?? false,
    fields: fieldsOf(field, document, [...above, object]),
  }))
}

/** The one schema besides null. */
function valueIn(schema: Schema): Schema {
  const choices = (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== 'null')
  return choices.length === 1 ? valueIn(choices[0] ?? {}) : schema
}

function objectIn(schema: Schema, document: OpenApi): Schema | null {
  const value = valueIn(resolved(valueIn(schema), document))
  if (value.type === 'array') return objectIn(value.items ?? {}, document)
  return value.properties ? value : null
}

/** A body with what is required, to begin with. */
export function exampleOf(schema: Schema, document: OpenApi, name = ''): unknown {
  const value = resolved(valueIn(resolved(schema, document)), document)
  if (value.const !== undefined) return value.const
  if (value.enum) return value.enum[0]
  const choice = value.anyOf?.[0] ?? value.oneOf?.[0]
  if (choice) return exampleOf(choice, document, name)
  switch (value.type) {
    case 'object': {
      const of = (one: string) => exampleOf(value.properties?.[one] ?? {}, document, one)
      return Object.fromEntries((value.required ?? []).map((one) => [one, of(one)]))
    }
    case 'array':
      return (value.minItems ?? 0) > 0 ? [exampleOf(value.items ?? {}, document, name)] : []
    case 'integer':
    case 'number':
      return Math.max(value.minimum ?? 1, 1)
    case 'boolean':
      return false
    case 'string':
      return EXAMPLES[name] ?? (value.pattern ? idLike(value.pattern) : 'text')
    default:
      return null
  }
}

/** Names that mean the same everywhere. */
const EXAMPLES: Named<string> = {
  symbol: 'SPX',
  exchange: 'SP',
  interval: '1d',
  email: 'you@example.com',
  url: 'https://example.com/hook',
  source: '//@version=6\nindicator("Close")\nplot(close)\n',
}

/** `^al_[0-9a-zA-Z]{1,64}$` → `al_…`. */
const idLike = (pattern: string): string => /^\^([a-z]+_)/.exec(pattern)?.[1]?.concat('…') ?? 'text'

export interface Filled {
  /** Values of path and query parameters by name. */
  readonly values: Named<string>
  /** JSON text; '' = none. */
  readonly body: string
}

/** The address with its parameters filled in; an empty one of the path stays as it is named. */
export function addressOf({ path, parameters = [] }: Operation, { values }: Pick<Filled, 'values'>): string {
  const filled = path.replace(/\{(\w+)\}/g, (whole, name: string) =>
    values[name] ? encodeURIComponent(values[name]) : whole,
  )
  const query = new URLSearchParams()
  for (const one of parameters)
    if (one.in === 'query' && values[one.name]) query.set(one.name, values[one.name] ?? '')
  return query.size > 0 ? `${filled}?${query}` : filled
}

/** The same as a command for a shell. */
export function curlOf(operation: Operation, filled: Filled, origin: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const { method, security = [] } = operation
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(origin + addressOf(operation, filled))}`,
    ...(security.some((one) => 'api-token' in one) ? [`-H 'Authorization: Bearer crm_pat_…'`] : []),
    ...(filled.body === '' ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(filled.body)}`]),
  ].join(' \\\n  ')
}
