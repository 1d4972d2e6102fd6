// The tools of agents. They are few, so that all of them fit a small mind: what no tool does is found and called as an operation.

import type { TObject, TSchema } from '@sinclair/typebox'
import { nearest } from '../../lib/nearest.ts'
import { Problem } from '../../lib/problem.ts'
import { checkBody } from '../validate.ts'
import { AgentError } from './agent-error.ts'
import { JUDGE, RUN } from './backtests.ts'
import { callText, leftOut, Refused, type Agent, type Json } from './call.ts'
import { EXPLAIN_DIFFERENCE } from './explain-tool.ts'
import { ACCOUNT, BARS, CALL_OPERATION, FIND, FIND_OPERATION, READ } from './look-tools.ts'
import { brief, fitted, SHORT } from './short.ts'
import { marketOf } from './subjects.ts'
import { out, type Tool } from './tool.ts'
import { FOLLOW, OPTIMISE, SCAN } from './work-tools.ts'
import { ALERT, WRITE_SCRIPT } from './write-tools.ts'

const TOOLS: readonly Tool[] = [
  ACCOUNT,
  FIND,
  READ,
  BARS,
  WRITE_SCRIPT,
  RUN,
  OPTIMISE,
  JUDGE,
  SCAN,
  FOLLOW,
  EXPLAIN_DIFFERENCE,
  ALERT,
  FIND_OPERATION,
  CALL_OPERATION,
]

/** As `tools/list` answers them. */
export const LISTED_TOOLS = TOOLS.map(({ name, title, description, input, output, hints }) => ({
  name,
  title,
  description,
  inputSchema: plain(input),
  outputSchema: plain({
    type: 'object' as const,
    properties: { ...output, next: out.texts },
    ...(Object.keys(output).length > 0 && { required: Object.keys(output) }),
  }),
  annotations: {
    readOnlyHint: hints.readOnly,
    destructiveHint: hints.destructive ?? false,
    idempotentHint: hints.idempotent ?? hints.readOnly,
    openWorldHint: hints.openWorld ?? false,
  },
}))

/** Without what only TypeBox knows; a choice of constants is an `enum`. */
function plain(schema: object): { type: 'object' } & Json {
  const text = JSON.stringify(schema, (name, value: unknown) => {
    if (name === 'required' && Array.isArray(value) && value.length === 0) return undefined
    if (name === 'properties' && typeof value === 'object' && Object.keys(value ?? {}).length === 0)
      return undefined
    if (typeof value !== 'object' || value === null || !('anyOf' in value)) return value
    const { anyOf, ...rest } = value as { anyOf: readonly { const?: unknown }[] }
    return anyOf.every((one) => 'const' in one) ? { ...rest, enum: anyOf.map((one) => one.const) } : value
  })
  return JSON.parse(text) as { type: 'object' } & Json
}

export interface ToolAnswer {
  readonly failed: boolean
  readonly content: Json
}

/** Does what a tool does. Throws `AgentError` if there is none of this name. */
export async function useTool(agent: Agent, name: string, given: Json): Promise<ToolAnswer> {
  const tool = TOOLS.find((one) => one.name === name)
  if (!tool) throw noSuchTool(name)
  try {
    const args = await checkedArguments(agent, tool, given)
    const max = tool.size?.(args) ?? SHORT
    const told = await tool.run(agent, args as never)
    const note = [told.note, leftOut(agent)].filter(Boolean).join(' ')
    const answer = note === '' ? told : { ...told, note }
    const content = name === 'call_operation' ? answer : (brief(answer) as Json)
    return { failed: false, content: shortened(tool, content, max) }
  } catch (error) {
    const { message, next, more } = refusal(error)
    const content = brief({ error: message, ...more, next }) as Json
    return { failed: true, content: fitted(content, SHORT).value }
  }
}

function refusal(error: unknown): Refused {
  if (error instanceof Refused) return error
  if (error instanceof Problem) return new Refused(error.message, [], { code: error.code })
  if (error instanceof AgentError) return new Refused(error.message)
  throw error
}

function shortened(tool: Tool, content: Json, max: number): Json {
  const { value, left } = fitted(content, max)
  // What the schema promises is there, whatever was empty.
  for (const [field, schema] of Object.entries(tool.output))
    value[field] ??= schema.type === 'array' ? [] : schema.type === 'object' ? {} : ''
  if (left.length === 0) return value
  const more =
    'max_chars' in tool.input.properties
      ? `Cut to ${max} characters; a larger \`max_chars\` shows more.`
      : 'Cut; a larger `limit` shows more.'
  return { ...value, cut: left, more }
}

/** Arguments as they are meant where a mind without types wrote "10", "true" or "Markets". */
function meant({ properties }: TObject, given: Json): Json {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
      return [name, schema ? meantValue(schema, value) : value]
    }),
  )
}

/** A record's values are numbers and flags where its schema lets them be: settings, not the inputs of a script. */
function meantValue(schema: TSchema, value: unknown): unknown {
  if (typeof value === 'string') return meantBy(schema, value.trim()) ?? value
  const [values] = Object.values((schema.patternProperties ?? {}) as Record<string, TSchema>)
  const kinds = (values?.anyOf as TSchema[] | undefined)?.filter(({ const: one }) => one === undefined)
  if (!kinds || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      typeof one === 'string'
        ? (kinds.map((kind) => meantBy(kind, one.trim())).find((it) => it !== undefined) ?? one)
        : one,
    ]),
  )
}

function meantBy(schema: TSchema, text: string): unknown {
  if ((schema.type === 'number' || schema.type === 'integer') && text !== '')
    return Number.isNaN(Number(text)) ? undefined : Number(text)
  if (schema.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  const choices = (schema.anyOf as TSchema[] | undefined)?.map(({ const: one }) => one as unknown)
  return choices?.find((one) => typeof one === 'string' && one.toLowerCase() === text.toLowerCase())
}

/** Throws `Refused` with the fields that are wrong, and a call that works. */
async function checkedArguments(agent: Agent, { name, input, example }: Tool, given: Json): Promise<Json> {
  const unknown: string[] = []
  const known = Object.keys(input.properties)
  try {
    const args = checkBody(input, meant(input, given), unknown) as Json
    const [first] = unknown.map((path) => path.slice(1)).filter((path) => !path.includes('/'))
    if (first === undefined) return args
    const { found } = nearest(first, known, 50)
    throw new Refused(
      `\`${name}\` has no argument \`${first.slice(0, 50)}\`${found === null ? '' : `; \`${found}\` is meant`}. It takes ${known.join(', ') || 'none'}.`,
      await exampleOf(agent, name, example, given),
    )
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const fields = error.details.fields
      ?.slice(0, 10)
      .map(({ path, message }) => `${path.slice(1)} ${message}`)
    throw new Refused(
      `\`${name}\` cannot be called like this.`,
      await exampleOf(agent, name, example, given),
      fields && { fields },
    )
  }
}

/** The tool's example, on the market that was given, or else on one that is here. */
async function exampleOf(agent: Agent, name: string, example: Json, given: Json): Promise<string[]> {
  if (example['market'] === undefined) return [callText(name, example)]
  const named = typeof given['market'] === 'string' ? given['market'] : ''
  const here = await marketOf(agent, named).catch(() => null)
  const market = here ? `${here.exchange}:${here.symbol} ${here.interval}` : example['market']
  return [callText(name, { ...example, market })]
}

function noSuchTool(name: string): AgentError {
  const { found } = nearest(
    name,
    TOOLS.map((one) => one.name),
    50,
  )
  return new AgentError(
    'invalid_params',
    `There is no tool ${name.slice(0, 100)}; ${found === null ? 'tools/list names them all' : `is ${found} meant?`}`,
  )
}
