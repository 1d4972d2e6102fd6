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
  readonly name: string
  readonly summary: string
}

/** The five that fit best. A word in the summary or the path counts more than one in the description. */
export function foundOperations(q: string): Found[] {
  const words = q.toLowerCase().match(/[a-z]{2,}/g) ?? []
  const scored = TABLE.map(([name, { summary, description = '' }]) => {
    const head = `${name} ${summary}`.toLowerCase()
    const text = description.toLowerCase()
    const score = words.reduce(
      (sum, word) => sum + (head.includes(stem(word)) ? 3 : text.includes(stem(word)) ? 1 : 0),
      0,
    )
    return { name, summary, score }
  })
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.name.length - b.name.length)
    .slice(0, 5)
    .map(({ name, summary }) => ({ name, summary }))
}

const stem = (word: string) => word.replace(/(ies|es|s|ing|ed)$/, '')

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
