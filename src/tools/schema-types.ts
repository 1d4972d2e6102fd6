// TypeScript's types of what is on the wire, read off the schemas that declare it, with their descriptions as comments.

import { Kind, OptionalKind, type TSchema } from '@sinclair/typebox'

/** By name: the type itself, and those of all schemas within it that have a name of their own. */
export function schemaTypes(name: string, schema: object): Map<string, string> {
  const types = new Map<string, string>()
  const add = (called: string, one: TSchema) => {
    if (types.has(called)) return
    // Its place, before those within it have theirs.
    types.set(called, '')
    const doc = comment(one, '')
    const text = typeText(one, '', add)
    types.set(
      called,
      one[Kind] === 'Object'
        ? `${doc}export interface ${called} ${text}`
        : `${doc}export type ${called} = ${text}`,
    )
  }
  add(name, schema as TSchema)
  return types
}

type Add = (name: string, schema: TSchema) => void

function comment({ description }: TSchema, indent: string): string {
  return typeof description === 'string' ? `${indent}/** ${description.replaceAll('*/', '* /')} */\n` : ''
}

function typeText(schema: TSchema, indent: string, add: Add): string {
  const within = (one: TSchema) => {
    if (one.$id === undefined) return typeText(one, indent, add)
    add(one.$id, one)
    return one.$id
  }
  switch (schema[Kind]) {
    case 'Object':
      return objectText(schema, indent, add)
    case 'Array':
      return listText(within(schema['items'] as TSchema))
    case 'Union':
      return (schema['anyOf'] as TSchema[]).map(within).join(' | ')
    case 'Literal':
      return JSON.stringify(schema['const'])
    case 'Record': {
      const [value] = Object.values(schema['patternProperties'] as Readonly<Record<string, TSchema>>)
      return `Readonly<Record<string, ${value ? within(value) : 'unknown'}>>`
    }
    case 'Tuple':
      return `readonly [${(schema['items'] as TSchema[]).map(within).join(', ')}]`
    case 'Integer':
    case 'Number':
      return 'number'
    case 'Boolean':
      return 'boolean'
    case 'Null':
      return 'null'
    case 'String':
    case 'Text':
      return 'string'
    case 'Unknown':
      return 'unknown'
    default:
      throw new Error(`a schema of kind ${schema[Kind]} has no type here`)
  }
}

function objectText(schema: TSchema, indent: string, add: Add): string {
  const inner = `${indent}  `
  const fields = Object.entries(schema['properties'] as Readonly<Record<string, TSchema>>).map(
    ([name, one]) => {
      const key = /^\w+$/.test(name) ? name : JSON.stringify(name)
      const named = one.$id
      if (named !== undefined) add(named, one)
      const text = named ?? typeText(one, inner, add)
      return `${comment(one, inner)}${inner}readonly ${key}${OptionalKind in one ? '?' : ''}: ${text}`
    },
  )
  return `{\n${fields.join('\n')}\n${indent}}`
}

const listText = (item: string) => (/^[\w<>]+$/.test(item) ? `readonly ${item}[]` : `readonly (${item})[]`)
