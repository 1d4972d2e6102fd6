// The OpenAPI document with one name for whatever occurs in it twice: shapes, answers and parameters become components, and what
// was in their place refers to them. Clients that are generated from it have one type for one thing, and it is less than half as
// long.
//
// A shape is named by the field that holds it first, with what it is a part of where that name is taken.

type Json = Record<string, unknown>

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> } & Json
}

export function sharedDocument(document: object): object {
  const described = document as Described
  const shapes = new Shapes(described.components.schemas)
  const answers = new Shared('responses', (status) => (status === 'default' ? 'Refused' : `E${status}_`))
  const parameters = new Shared('parameters', (name) => `${pascal(name)}Arg`)
  const operations = [...Object.values(described.paths), ...Object.values(described.webhooks)].flatMap(
    (methods) => Object.values(methods),
  )
  for (const operation of operations) {
    for (const [status, answer] of Object.entries((operation['responses'] ?? {}) as Record<string, Json>))
      if (!status.startsWith('2')) answers.note(status, answer)
    for (const one of (operation['parameters'] ?? []) as Json[]) parameters.note(String(one['name']), one)
    shapes.noteOperation(operation)
  }
  const rewritten = (methods: Readonly<Record<string, Json>>) =>
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [
        method,
        shapes.inOperation({
          ...withoutUsual(operation, (one) => parameters.of(one)),
          responses: Object.fromEntries(
            Object.entries(operation['responses'] as Record<string, Json>).map(([status, answer]) => [
              status,
              status.startsWith('2') ? answer : answers.of(answer),
            ]),
          ),
        }),
      ]),
    )
  const each = (all: Described['paths']) =>
    Object.fromEntries(Object.entries(all).map(([path, methods]) => [path, rewritten(methods)]))
  shapes.choose()
  const paths = each(described.paths)
  const webhooks = each(described.webhooks)
  return {
    ...document,
    security: USUAL,
    paths,
    webhooks,
    components: {
      ...described.components,
      schemas: shapes.components(),
      responses: answers.components(),
      parameters: parameters.components((one) => ({ ...one, schema: shapes.in(one['schema']) })),
    },
  }
}

/** Of most operations; it stands at the top once. */
const USUAL = [{ session: [] }, { 'api-token': [] }]

function withoutUsual({ security, parameters = [], ...operation }: Json, by: (one: Json) => Json): Json {
  const each = (parameters as Json[]).map(by)
  return {
    ...operation,
    ...(each.length > 0 && { parameters: each }),
    ...(JSON.stringify(security) !== JSON.stringify(USUAL) && { security }),
  }
}

/** Whole objects that occur twice, such as answers. */
class Shared {
  readonly #kind: string
  readonly #nameOf: (key: string) => string
  readonly #noted = new Map<string, { readonly key: string; count: number }>()
  #names: Map<string, string> | null = null

  constructor(kind: string, nameOf: (key: string) => string) {
    this.#kind = kind
    this.#nameOf = nameOf
  }

  note(key: string, value: Json): void {
    const text = JSON.stringify(value)
    const known = this.#noted.get(text)
    if (known) known.count++
    else this.#noted.set(text, { key, count: 1 })
  }

  of(value: Json): Json {
    const name = this.#named().get(JSON.stringify(value))
    return name === undefined ? value : { $ref: `#/components/${this.#kind}/${name}` }
  }

  components(change: (value: Json) => Json = (value) => value): Json {
    return Object.fromEntries(
      [...this.#named()].map(([text, name]) => [name, change(JSON.parse(text) as Json)]),
    )
  }

  #named(): Map<string, string> {
    if (this.#names) return this.#names
    const taken = new Set<string>()
    this.#names = new Map(
      [...this.#noted].flatMap(([text, { key, count }]) =>
        count > 1 ? [[text, free(this.#nameOf(key), taken)]] : [],
      ),
    )
    return this.#names
  }
}

/** A shorter schema takes less room where it stands than a reference to it. */
const SHORT = 60

interface Shape {
  readonly text: string
  readonly schema: Json
  /** What it may be called, the plainest first. */
  readonly names: readonly string[]
  count: number
}

class Shapes {
  readonly #named: ReadonlyMap<string, Json>
  readonly #shapes = new Map<string, Shape>()
  /** The name of each shape that is shared, by its text. */
  readonly #chosen = new Map<string, string>()
  readonly #texts = new WeakMap<object, string>()

  constructor(named: Readonly<Record<string, unknown>>) {
    this.#named = new Map(Object.entries(named) as [string, Json][])
    for (const [name, schema] of this.#named) this.#noteParts(schema, [name])
  }

  noteOperation(operation: Json): void {
    for (const { schema, hint } of schemasOf(operation)) this.#note(schema, hint)
  }

  inOperation(operation: Json): Json {
    return replaced(operation, (schema) => this.in(schema))
  }

  /**
   * Chooses what is shared, the longest first: what stands only within a shape that is shared occurs once then, and keeps its
   * place.
   */
  choose(): void {
    const taken = new Set([...this.#named.keys()].map((name) => name.toLowerCase()))
    for (const [name, schema] of this.#named)
      if (isShape(schema)) this.#chosen.set(this.#textOf(schema), name)
    const candidates = [...this.#shapes.values()]
      .filter(({ count, text }) => count > 1 && text.length > SHORT)
      .toSorted((a, b) => b.text.length - a.text.length)
    for (const { text, schema, names } of candidates) {
      const shape = this.#shapes.get(text)!
      if (this.#chosen.has(text) || shape.count < 2) continue
      const name = names.find((one) => !taken.has(one.toLowerCase())) ?? names.at(-1) ?? 'Shape'
      this.#chosen.set(text, free(name, taken))
      for (const part of partsOf(schema)) this.#forget(part.schema, shape.count - 1)
    }
  }

  /** The schema with references in place of what is shared. */
  in(schema: unknown): unknown {
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
    const name = this.#chosen.get(this.#textOf(schema))
    return name === undefined ? this.#within(schema as Json) : { $ref: `#/components/schemas/${name}` }
  }

  components(): Json {
    const all = new Map([...this.#named].map(([name, schema]) => [name, this.#within(schema)]))
    for (const [text, name] of this.#chosen)
      if (!all.has(name)) all.set(name, this.#within(this.#shapes.get(text)!.schema))
    return Object.fromEntries(all)
  }

  #within(schema: Json): Json {
    return orNull(replaced(schema, (part) => this.in(part)))
  }

  #note(schema: Json, hint: readonly string[]): void {
    if (isShape(schema)) {
      const text = this.#textOf(schema)
      const known = this.#shapes.get(text)
      if (known) known.count++
      else this.#shapes.set(text, { text, schema, names: namesOf(hint), count: 1 })
    }
    this.#noteParts(schema, hint)
  }

  #noteParts(schema: Json, hint: readonly string[]): void {
    for (const { schema: part, name } of partsOf(schema))
      this.#note(part, name === null ? hint : [...hint, name])
  }

  #forget(schema: Json, times: number): void {
    const shape = isShape(schema) ? this.#shapes.get(this.#textOf(schema)) : undefined
    if (shape) shape.count -= times
    for (const { schema: part } of partsOf(schema)) this.#forget(part, times)
  }

  #textOf(schema: object): string {
    const known = this.#texts.get(schema)
    if (known !== undefined) return known
    const text = JSON.stringify(schema)
    this.#texts.set(schema, text)
    return text
  }
}

/** A choice between a plain value and null is a type of two names, which takes half the room. */
function orNull(schema: Json): Json {
  const { anyOf, ...rest } = schema as { readonly anyOf?: readonly Json[] } & Json
  const [value, none] = anyOf ?? []
  if (anyOf?.length !== 2 || none?.['type'] !== 'null' || typeof value?.['type'] !== 'string') return schema
  // Two descriptions are of the choice and of the value.
  if ('description' in rest && 'description' in value) return schema
  return { ...rest, ...value, type: [value['type'], 'null'] }
}

/** What may have a name. A reference has one. */
const isShape = (schema: Json): boolean => !('$ref' in schema)

/** Words that name a part and not what it is. */
const EMPTY: ReadonlySet<string> = new Set(['Item', 'Items', 'Value', 'Values', 'Body', 'Answer', 'Data'])

/** `Side`, `TradeSide`, `ReportTradeSide`. */
function namesOf(hint: readonly string[]): string[] {
  const parts = hint.map(pascal)
  const all = parts.map((_, i) => parts.slice(parts.length - 1 - i))
  const telling = all.filter((words) => words.some((word) => !EMPTY.has(word)))
  return telling.map((words) => words.join(''))
}

const pascal = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((word) => (word[0] ?? '').toUpperCase() + word.slice(1))
    .join('')

/** The name, with a number where it is taken in any case of letters: generators write files of these names. */
function free(name: string, taken: Set<string>): string {
  let found = name
  for (let i = 2; taken.has(found.toLowerCase()); i++) found = `${name}${i}`
  taken.add(found.toLowerCase())
  return found
}

interface Part {
  readonly schema: Json
  readonly name: string | null
}

/** The schemas directly within one, with the names of their fields. */
function partsOf(schema: Json): Part[] {
  const parts: Part[] = []
  const add = (value: unknown, name: string | null) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      parts.push({ schema: value as Json, name })
  }
  for (const [keyword, value] of Object.entries(schema))
    if (MAPS.has(keyword))
      for (const [name, one] of Object.entries(value as object))
        add(one, keyword === 'properties' ? name : null)
    else if (LISTS.has(keyword)) for (const one of value as unknown[]) add(one, null)
    else if (keyword === 'items') add(value, 'item')
    else if (keyword === 'additionalProperties') add(value, 'value')
  return parts
}

const MAPS: ReadonlySet<string> = new Set(['properties', 'patternProperties'])
const LISTS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])

/** A copy of a schema, or of an operation, with other schemas in place of those directly within it. */
function replaced(value: Json, by: (schema: unknown) => unknown): Json {
  return Object.fromEntries(
    Object.entries(value).map(([keyword, inner]) => {
      if (MAPS.has(keyword))
        return [
          keyword,
          Object.fromEntries(Object.entries(inner as object).map(([name, one]) => [name, by(one)])),
        ]
      if (LISTS.has(keyword)) return [keyword, (inner as unknown[]).map(by)]
      if (keyword === 'items' || keyword === 'additionalProperties') return [keyword, by(inner)]
      if (keyword === 'requestBody') return [keyword, inContent(inner as Json, by)]
      if (keyword === 'responses')
        return [
          keyword,
          Object.fromEntries(
            Object.entries(inner as Record<string, Json>).map(([status, answer]) => [
              status,
              inContent(answer, by),
            ]),
          ),
        ]
      if (keyword === 'parameters')
        return [
          keyword,
          (inner as Json[]).map((one) => ('schema' in one ? { ...one, schema: by(one['schema']) } : one)),
        ]
      return [keyword, inner]
    }),
  )
}

function inContent(holder: Json, by: (schema: unknown) => unknown): Json {
  const content = holder['content'] as Record<string, Json> | undefined
  if (!content) return holder
  return {
    ...holder,
    content: Object.fromEntries(
      Object.entries(content).map(([type, one]) => [type, { ...one, schema: by(one['schema']) }]),
    ),
  }
}

/** The schemas of an operation, with what they are called after: the operation, and which side of it they are. */
function schemasOf(operation: Json): { readonly schema: Json; readonly hint: readonly string[] }[] {
  const name = String(operation['operationId'])
  const found: { schema: Json; hint: readonly string[] }[] = []
  const add = (holder: unknown, part: string) => {
    const content = (holder as Json | undefined)?.['content'] as Record<string, Json> | undefined
    for (const { schema } of Object.values(content ?? {}))
      if (typeof schema === 'object' && schema !== null)
        found.push({ schema: schema as Json, hint: [name, part] })
  }
  add(operation['requestBody'], 'Body')
  for (const [status, answer] of Object.entries((operation['responses'] ?? {}) as Json))
    if (status.startsWith('2')) add(answer, 'Answer')
  for (const one of (operation['parameters'] ?? []) as Json[])
    if (typeof one['schema'] === 'object' && one['schema'] !== null)
      found.push({ schema: one['schema'] as Json, hint: [name, String(one['name'])] })
  return found
}
