// Scripts: stored Pine source with its diagnostics and versions, and the check that an editor calls as one types.

import { Type, type Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { INPUT_KINDS } from '../pine/2-check/program.ts'
import { SCRIPT_VISIBILITIES, SCRIPTS_PER_USER, type Script, type ScriptMade } from '../scripts/scripts.ts'
import { access, type ApiDeps } from './access.ts'
import { JsonText } from './json-text.ts'
import { scriptItem } from './rooms.ts'
import { doc, idOf, Listed, listed, nullable, oneOf, PageQuery, pageOf, Text, Time, Raw } from './schemas.ts'

const SOURCE_CHARACTERS = 500_000
const BODY_BYTES = 1024 * 1024

export const DiagnosticWire = Type.Object(
  {
    severity: oneOf(['error', 'warning'] as const),
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

export const ScriptWire = Type.Object(
  {
    id: idOf('scr'),
    name: Type.String(),
    source: Type.String(),
    visibility: oneOf(SCRIPT_VISIBILITIES),
    kind: oneOf(['strategy', 'indicator', 'library', 'draft'] as const),
    pineVersion: nullable(Type.Integer()),
    revision: Type.Integer(),
    author: Type.String(),
    mine: Type.Boolean(),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'Script' },
)
/** What a form for an input needs. */
const InputWire = Type.Object(
  {
    label: Type.String(),
    kind: oneOf(INPUT_KINDS),
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
const ScriptBody = Type.Object({
  name: Text(200),
  source: Raw(SOURCE_CHARACTERS, 0),
  visibility: Type.Optional(oneOf(SCRIPT_VISIBILITIES)),
})

export function scriptRoutes(deps: ApiDeps) {
  const { scripts, search, texts } = deps.rooms
  const wireFor =
    (userId: string | null) =>
    ({ ownerId, ...shown }: Script): Static<typeof ScriptWire> => ({ ...shown, mine: ownerId === userId })

  return new Elysia({ prefix: '/api/platform/scripts', tags: ['Scripts'], normalize: false })
    .use(access(deps))
    .post(
      '',
      ({ caller: { user }, body, once }) =>
        once(
          ({ script, diagnostics }: ScriptMade) => ({
            id: script.id,
            script: wireFor(user.id)(script),
            diagnostics: new JsonText(diagnostics),
          }),
          async (also) => {
            const made = await scripts.create(user.id, user.name, body, also)
            search.put(scriptItem(made.script))
            return made
          },
        ),
      {
        access: { to: 'session scripts:write', bodyBytes: BODY_BYTES },
        body: ScriptBody,
        detail: doc(
          'Store a script',
          { id: idOf('scr'), script: ScriptWire, diagnostics: Type.Array(DiagnosticWire) },
          'One that does not compile is stored as a draft.',
        ),
      },
    )
    .post(
      '/check',
      async ({ caller, body, request }) => {
        const { kind, pineVersion, ...found } = await texts.check(caller.user.id, body.source, request.signal)
        return {
          kind,
          pineVersion,
          inputs: new JsonText(found.inputs),
          plots: new JsonText(found.plots),
          diagnostics: new JsonText(found.diagnostics),
        }
      },
      {
        access: { to: 'session scripts:read', bodyBytes: BODY_BYTES },
        body: Type.Object({ source: Raw(SOURCE_CHARACTERS, 0) }),
        detail: doc(
          'Check a script without storing it',
          {
            kind: Type.String(),
            pineVersion: nullable(Type.Integer()),
            inputs: Type.Array(InputWire),
            plots: Type.Array(Type.String()),
            diagnostics: Type.Array(DiagnosticWire),
          },
          '`plots` are the titles of its `plot()` calls, as an alert of the kind `indicator` names one.',
        ),
      },
    )
    .post(
      '/format',
      async ({ caller, body, request }) => ({
        source: await texts.format(caller.user.id, body.source, request.signal),
      }),
      {
        access: { to: 'session scripts:read', bodyBytes: BODY_BYTES },
        body: Type.Object({ source: Raw(SOURCE_CHARACTERS, 0) }),
        detail: doc('Tidy the spaces of a script', { source: Type.String() }),
      },
    )
    .get(
      '',
      ({ visitor, query }) => {
        const userId = visitor?.user.id ?? null
        const everybodys = query.feed === 'public' || userId === null
        const page = pageOf(query, everybodys ? 100 : SCRIPTS_PER_USER)
        return listed(
          'scripts',
          everybodys ? scripts.listPublic(page) : scripts.listOf(userId, page),
          wireFor(userId),
        )
      },
      {
        access: 'none scripts:read',
        query: Type.Object({ ...PageQuery, feed: Type.Optional(oneOf(['public', 'mine'] as const)) }),
        detail: doc(
          'List scripts',
          Listed('scripts', ScriptWire),
          "One's own; the public ones with feed=public or when nobody is signed in.",
        ),
      },
    )
    .get(
      '/:id',
      ({ visitor, params }) => ({
        script: wireFor(visitor?.user.id ?? null)(scripts.get(params.id, visitor?.user.id ?? null)),
      }),
      {
        access: { to: 'none scripts:read', etag: true },
        detail: doc('One script', { script: ScriptWire }),
      },
    )
    .get(
      '/:id/revisions',
      ({ caller, params, query }) =>
        listed(
          'revisions',
          scripts.revisions(caller.user.id, params.id, pageOf(query, 50)),
          ({ revision, source, savedAt }) => ({ revision, source, savedAt }),
        ),
      {
        access: 'session scripts:read',
        query: Type.Object(PageQuery),
        detail: doc(
          'Earlier texts of a script',
          Listed(
            'revisions',
            Type.Object({ revision: Type.Integer(), source: Type.String(), savedAt: Time }),
          ),
        ),
      },
    )
    .patch(
      '/:id',
      async ({ caller, params, body }) => {
        const { script, diagnostics } = await scripts.change(caller.user.id, params.id, body)
        search.put(scriptItem(script))
        return {
          script: wireFor(caller.user.id)(script),
          diagnostics: new JsonText(diagnostics),
        }
      },
      {
        access: { to: 'session scripts:write', bodyBytes: BODY_BYTES },
        body: Type.Partial(ScriptBody),
        detail: doc('Change a script', { script: ScriptWire, diagnostics: Type.Array(DiagnosticWire) }),
      },
    )
    .delete(
      '/:id',
      async ({ caller, params }) => {
        await scripts.remove(caller.user.id, params.id)
        search.remove('script', params.id, caller.user.id)
        return { id: params.id }
      },
      { access: 'session scripts:write', detail: doc('Delete a script', { id: idOf('scr') }) },
    )
}
