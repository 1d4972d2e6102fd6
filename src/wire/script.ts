// Stored scripts, and the result of checking one.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { idOf, Listed, nullable, oneOf, PageQuery, Raw, Text, Time, type Wire } from './schema.ts'
import { words } from '../lib/words.ts'

const Visibility = oneOf(['public', 'private'])

const Kind = oneOf(['strategy', 'indicator', 'library', 'draft'])

export const Diagnostic = Type.Object(
  {
    severity: oneOf(['error', 'warning']),
    line: Type.Integer(),
    column: Type.Integer(),
    endLine: Type.Integer(),
    endColumn: Type.Integer(),
    code: Type.String(),
    message: Type.String(),
    hint: nullable(Type.String()),
  },
  { $id: 'Diagnostic' },
)
export type Diagnostic = Wire<typeof Diagnostic>

/** Arguments of the declaration that a strategy's runs replace: initial_capital, commission_value, … */
const Overrides = Type.Record(
  Type.String({ maxLength: 100 }),
  Type.Union([Type.Number(), Type.String({ maxLength: 200 }), Type.Boolean()]),
  {
    maxProperties: 60,
    description:
      'Properties: arguments of the declaration that the editor’s runs replace, as `overrides` of a backtest does.',
  },
)

const OwnInputs = Type.Record(
  Type.String(),
  Type.Union([Type.Number(), Type.String({ maxLength: 4_000 }), Type.Boolean()]),
  {
    maxProperties: 200,
    description: 'Values of its inputs, as `inputs` of a backtest.',
  },
)

const OwnDay = Type.String({
  maxLength: 40,
  description:
    'The day of whose TradingView the editor’s runs are, as `asOf` of a backtest; null, or missing in a script, is the newest.',
})
const hasOwnDay = { asOf: Type.Optional(OwnDay) }

const Script = Type.Object(
  {
    id: idOf('scr'),
    name: Type.String(),
    source: Type.String(),
    visibility: Visibility,
    kind: Kind,
    pineVersion: nullable(Type.Integer()),
    revision: Type.Integer(),
    author: Type.String(),
    mine: Type.Boolean(),
    inputs: OwnInputs,
    overrides: Overrides,
    ...hasOwnDay,
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'Script' },
)
export type Script = Wire<typeof Script>

/** What a form needs to know about an input. */
export const Input = Type.Object(
  {
    label: Type.String(),
    kind: oneOf(
      words('int float bool string color source timeframe session symbol time price text_area enum'),
    ),
    default: Type.Unknown(),
    minval: nullable(Type.Number()),
    maxval: nullable(Type.Number()),
    step: nullable(Type.Number()),
    options: nullable(Type.Array(Type.Union([Type.Number(), Type.String()]))),
    tooltip: Type.String(),
    group: Type.String(),
    inline: Type.String(),
    active: Type.Boolean(),
  },
  { $id: 'Input' },
)
export type Input = Wire<typeof Input>

const Revision = Type.Object({ revision: Type.Integer(), source: Type.String(), savedAt: Time })
type Revision = Wire<typeof Revision>

const Source = Raw(500_000, 0)
const ScriptBody = Type.Object({
  name: Text(200),
  source: Source,
  visibility: Type.Optional(Visibility),
  inputs: Type.Optional(OwnInputs),
  overrides: Type.Optional(Overrides),
  asOf: Type.Optional(nullable(OwnDay)),
})

const checked = {
  kind: Kind,
  pineVersion: nullable(Type.Integer()),
  inputs: Type.Array(Input),
  plots: Type.Array(Type.String()),
  declaration: nullable(
    Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Boolean(), Type.Null()]), {
      description: 'All arguments of a strategy’s declaration, given or default as of today.',
    }),
  ),
  given: Type.Array(Type.String(), { description: 'Those of them that the script itself names.' }),
  diagnostics: Type.Array(Diagnostic),
}

/** The path that `import` uses: `TradingView/ta/7`. */
export const LIBRARY_PATH = '^[A-Za-z_][0-9A-Za-z_]*/[A-Za-z_][0-9A-Za-z_]*/[1-9][0-9]{0,8}$'

const WantedLibrary = Type.Object(
  {
    path: Type.String({ description: 'What scripts import: `TradingView/ta/7`.' }),
    users: Type.Integer({ description: 'Users whose scripts asked for it.' }),
    asked: Type.Integer({ description: 'How often they did; one user counts once an hour.' }),
    lastAt: Time,
  },
  { $id: 'WantedLibrary' },
)
export type WantedLibrary = Wire<typeof WantedLibrary>

export const SCRIPTS = {
  'POST /api/platform/scripts': {
    access: 'session scripts:write',
    summary: 'Store a script',
    description:
      'One that does not compile is stored as a draft. A library of somebody else, stored under the path it is imported by (`TradingView/ta/7`), is what your scripts import from then on.',
    body: ScriptBody,
    answer: { id: idOf('scr'), script: Script, diagnostics: Type.Array(Diagnostic) },
  },
  'POST /api/platform/scripts/check': {
    access: 'session scripts:read',
    summary: 'Check a script without storing it',
    description:
      '`plots` are the titles of its `plot()` calls, as an alert of the kind `indicator` names one.',
    body: Type.Object({ source: Source }),
    answer: checked,
  },
  'POST /api/platform/scripts/format': {
    access: 'session scripts:read',
    summary: 'Tidy the spaces of a script',
    body: Type.Object({ source: Source }),
    answer: { source: Type.String() },
  },
  'POST /api/platform/scripts/libraries': {
    access: 'session scripts:write',
    summary: 'Add a library that your scripts import',
    description:
      'Somebody else’s, such as one published on TradingView: its source, kept as it is with its licence line, under the path that scripts import it by. A text stored there before is replaced. What is no library, or does not compile, is 422 `script_invalid` with `diagnostics`.',
    body: Type.Object({
      path: Type.String({ pattern: LIBRARY_PATH, maxLength: 200, expected: 'USER/LIBRARY/VERSION' }),
      source: Raw(500_000),
    }),
    answer: { id: idOf('scr'), script: Script, diagnostics: Type.Array(Diagnostic) },
  },
  'GET /api/platform/scripts/libraries/wanted': {
    access: 'session scripts:read',
    summary: 'Libraries that scripts asked for and did not find',
    description:
      'Of all users, most wanted first: for the owner and admins, 404 for others. Counted when a script is run or saved; at most 2,000 are remembered.',
    answer: { libraries: Type.Array(WantedLibrary) },
  },
  'GET /api/platform/scripts': {
    access: 'none scripts:read',
    summary: 'List scripts',
    description: "The caller's own; with feed=public, or when nobody is signed in, the public ones.",
    query: Type.Object({ ...PageQuery.properties, feed: Type.Optional(oneOf(['public', 'mine'])) }),
    answer: Listed('scripts', Script),
  },
  'GET /api/platform/scripts/{id}': {
    access: 'none scripts:read',
    summary: 'One script',
    answer: { script: Script },
  },
  'GET /api/platform/scripts/{id}/revisions': {
    access: 'session scripts:read',
    summary: 'Earlier texts of a script',
    query: PageQuery,
    answer: Listed('revisions', Revision),
  },
  'PATCH /api/platform/scripts/{id}': {
    access: 'session scripts:write',
    summary: 'Change a script',
    body: Type.Partial(ScriptBody),
    answer: { script: Script, diagnostics: Type.Array(Diagnostic) },
  },
  'DELETE /api/platform/scripts/{id}': {
    access: 'session scripts:write',
    summary: 'Delete a script',
    answer: { id: idOf('scr') },
  },
} as const satisfies OperationTable
