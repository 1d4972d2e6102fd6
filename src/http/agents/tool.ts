// A tool of an agent: one intent, with arguments that all have a default where there is one, and a short answer.

import { Type, type Static, type TObject, type TSchema } from '@sinclair/typebox'
import type { Agent, Json } from './call.ts'
import { LONG, SHORT } from './short.ts'

/** What a client may rely on before it calls: whether the tool changes anything, and how. */
interface Hints {
  readonly readOnly: boolean
  /** It may remove or replace something. Not said of what only reads. */
  readonly destructive?: boolean
  /** The same call once more changes nothing further. */
  readonly idempotent?: boolean
  /** It may reach the world outside of the server, by a message or a provider of bars. */
  readonly openWorld?: boolean
}

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: TObject
  /** What it answers beside `next` and `note`. */
  readonly output: Readonly<Record<string, TSchema>>
  readonly hints: Hints
  /** A whole call that works, for those that were wrong. */
  readonly example: Json
  /** Characters of an answer if the arguments do not say. */
  readonly size?: (args: Json) => number | undefined
  readonly run: (agent: Agent, args: never) => Promise<Reply>
}

/** `next` are calls that lead on, `note` is what was chosen for the agent. */
export type Reply = Json & { readonly next?: readonly string[]; readonly note?: string | null }

/** Infers the type of a tool's arguments from its schema. */
export const tool = <S extends TObject>(
  made: Omit<Tool, 'input' | 'run'> & {
    readonly input: S
    readonly run: (agent: Agent, args: Static<S>) => Promise<Reply>
  },
): Tool => made

const text = (maxLength: number, description: string) => Type.String({ maxLength, description })
export const optional = Type.Optional

export const arg = {
  text,
  number: (description: string) => Type.Number({ description }),
  market: optional(text(200, 'EXCHANGE:SYMBOL INTERVAL; parts may be missing')),
  script: Type.String({
    minLength: 1,
    maxLength: 1 << 20,
    description: 'Pine source, id or name of a saved script, or id of a backtest',
  }),
  name: optional(Type.String({ minLength: 1, maxLength: 200 })),
  id: Type.String({ minLength: 1, maxLength: 200 }),
  inputs: optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Values by the title of the input' }),
  ),
  settings: optional(
    Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Boolean()]), {
      description: 'Arguments of strategy() to replace: initial_capital, commission_value …',
    }),
  ),
  limit: (most: number, usual: number) =>
    optional(Type.Integer({ minimum: 1, maximum: most, default: usual })),
  chars: optional(
    Type.Integer({ minimum: 200, maximum: LONG, default: SHORT, description: 'Longest answer' }),
  ),
} as const

/** For tools whose arguments say how long an answer may be. */
export const sized = (args: Json) => args['max_chars'] as number | undefined

export const out = {
  text: Type.String(),
  number: Type.Number(),
  list: Type.Array(Type.Unknown()),
  texts: Type.Array(Type.String()),
  object: Type.Object({}),
  flag: Type.Boolean(),
} as const
