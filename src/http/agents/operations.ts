// Every operation of the API for an agent that looks for one: found by words, told with its arguments in a line each.

import type { TObject, TSchema } from '@sinclair/typebox'
import { OPERATIONS, type OperationName } from '../../wire/operations.ts'
import type { Operation } from '../../wire/operation.ts'
import type { Json } from './call.ts'

/** Event streams never end, and what only a browser's session may do is nothing for agents. */
const TABLE = Object.entries(OPERATIONS as Readonly<Record<string, Operation>>).filter(
  ([name, { access }]) => access !== 'session only' && !/\/(events|stream)$/.test(name),
)

export function operationNamed(name: string): OperationName | null {
  const text = name.trim().replace(/\s+/g, ' ')
  return (TABLE.find(([one]) => one === text)?.[0] as OperationName | undefined) ?? null
}

interface Found {
  readonly name: OperationName
  readonly summary: string
}

/** Words of which an operation says others. */
const SAME: Readonly<Record<string, string>> = {
  upload: 'import',
  load: 'import',
  price: 'alert',
  broker: 'bridge',
}
/** What is done, by the method of an operation. */
const METHODS: Readonly<Record<string, RegExp>> = {
  POST: /^(?:create|add|make|new|register|start|send)$/,
  GET: /^(?:list|show|get|read|see|which)$/,
  DELETE: /^(?:delete|remove|forget)$/,
  PATCH: /^(?:change|update|edit|rename|pause)$/,
}
const EMPTY = /^(?:an?|the|of|to|from|for|with|by|in|on|as|is|it|my|and|or|how|do|when|what|that|me|this|i)$/

const TEXTS = TABLE.map(([name, { summary, description = '' }]) => ({
  name: name as OperationName,
  summary,
  tail: wordsOf(name.slice(name.lastIndexOf('/'))),
  head: wordsOf(`${name} ${summary}`),
  text: wordsOf(description),
}))

/** The five that fit best: the rarer a word, the more it tells, and in the end of the path or the summary more than in the description. */
export function foundOperations(q: string): Found[] {
  const asked = (q.toLowerCase().match(/[a-z]{2,}/g) ?? []).filter((word) => !EMPTY.test(word))
  const isMethod = (word: string) => Object.values(METHODS).some((verbs) => verbs.test(word))
  const nouns = asked.filter((word) => !isMethod(word))
  const words = [...new Set(nouns.flatMap((word) => [word, SAME[word] ?? []].flat().map(stem)))]
  const weights = words.map((word) => {
    const having = TEXTS.filter(({ head, text }) => head.has(word) || text.has(word)).length
    return having === 0 ? 0 : Math.log(1 + TEXTS.length / having)
  })
  const scored = TEXTS.map(({ name, summary, tail, head, text }) => {
    const of = (word: string) => (tail.has(word) ? 5 : head.has(word) ? 3 : text.has(word) ? 1 : 0)
    const score = words.reduce((sum, word, i) => sum + of(word) * weights[i]!, 0)
    const [method = ''] = name.split(' ')
    return {
      name,
      summary,
      score: score > 0 && asked.some((word) => METHODS[method]?.test(word)) ? score + 2 : score,
    }
  })
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.name.length - b.name.length)
    .slice(0, 5)
    .map(({ name, summary }) => ({ name, summary }))
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(
    text
      .toLowerCase()
      .match(/[a-z]{2,}/g)
      ?.map(stem),
  )
}

function stem(word: string): string {
  return word.length > 3 ? word.replace(/(?:ies|es|s|ing|ed|e)$/, '') : word
}

/** What an operation takes, in a line an argument. */
export function takenBy(name: OperationName): Json {
  const { path, query, body } = operationText(name)
  return {
    ...(path !== undefined && { path }),
    ...(query !== undefined && { query }),
    ...(body !== undefined && { body }),
  }
}

export function operationText(name: OperationName): Json {
  const { summary, description, query, body, access, answer } = OPERATIONS[name] as Operation
  const path = [...name.matchAll(/\{(\w+)\}/g)].map(([, part = '']) => part)
  return {
    name,
    summary,
    scopes: access.split(' ').slice(1),
    ...(path.length > 0 && { path }),
    ...(query && { query: argumentsOf(query) }),
    ...(body && { body: 'properties' in body ? argumentsOf(body as TObject) : typeText(body) }),
    ...(!body && /import|inspect/.test(name) && { body: 'the text of the file' }),
    answers: Object.keys(answer ?? {}),
    about: description,
  }
}

/** `{symbol: "text, needed"}`. */
function argumentsOf({ properties, required = [] }: TObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      `${typeText(schema)}${required.includes(name) ? ', needed' : ''}`,
    ]),
  )
}

function typeText(schema: TSchema, depth = 0): string {
  const variants = schema.anyOf as TSchema[] | undefined
  if (variants?.every((variant) => 'const' in variant))
    return variants.map((variant) => JSON.stringify(variant.const)).join(' | ')
  if (variants) return [...new Set(variants.map((variant) => typeText(variant, depth)))].join(' | ')
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.type === 'array')
    return `[${typeText((schema.items as TSchema | undefined) ?? ({} as TSchema), depth)}]`
  if (schema.type === 'object') {
    const properties = schema.properties as Record<string, TSchema> | undefined
    if (!properties || depth > 1) return 'object'
    const required = (schema.required ?? []) as string[]
    const fields = Object.entries(properties).map(
      ([name, one]) => `${name}${required.includes(name) ? '' : '?'}: ${typeText(one, depth + 1)}`,
    )
    return `{${fields.join(', ')}}`
  }
  return schema.type === 'string' ? 'text' : String(schema.type ?? 'anything')
}
