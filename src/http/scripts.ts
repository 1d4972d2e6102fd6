// Scripts: stored Pine source with its diagnostics and versions, and the check that an editor calls while the user types.

import { Elysia } from 'elysia'
import { SCRIPTS_PER_USER, type Script, type ScriptMade } from '../people/scripts/scripts.ts'
import { Problem } from '../lib/problem.ts'
import type { Script as ScriptWire } from '../wire/script.ts'
import { access, type ApiDeps } from './access.ts'
import { JsonText } from './json-text.ts'
import { scriptItem } from './search-items.ts'
import { listed, pageName, pageOf } from './fields.ts'
import { route } from './route.ts'

const BODY_BYTES = 1024 * 1024

export function scriptRoutes(deps: ApiDeps) {
  const { kept } = deps
  const { scripts, search, texts } = deps.features
  const wireFor =
    (userId: string | null) =>
    ({ ownerId, overrides = {}, ...shown }: Script): ScriptWire => ({
      ...shown,
      overrides,
      mine: ownerId === userId,
    })

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
      route('POST /api/platform/scripts', { bodyBytes: BODY_BYTES }),
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
          declaration: new JsonText(found.declaration),
          diagnostics: new JsonText(found.diagnostics),
        }
      },
      route('POST /api/platform/scripts/check', { bodyBytes: BODY_BYTES }),
    )
    .post(
      '/format',
      async ({ caller, body, request }) => ({
        source: await texts.format(caller.user.id, body.source, request.signal),
      }),
      route('POST /api/platform/scripts/format', { bodyBytes: BODY_BYTES }),
    )
    .post(
      '/libraries',
      async ({ caller: { user }, body: { path, source } }) => {
        const { script, diagnostics } = await scripts.addLibrary(user.id, user.name, path, source)
        search.put(scriptItem(script))
        return { id: script.id, script: wireFor(user.id)(script), diagnostics: new JsonText(diagnostics) }
      },
      route('POST /api/platform/scripts/libraries', { bodyBytes: BODY_BYTES }),
    )
    .get(
      '/libraries/wanted',
      async ({ caller: { user } }) => {
        if (user.role === 'member') throw new Problem(404, 'not_found', 'There is nothing here.')
        return { libraries: await deps.features.wantedLibraries.list() }
      },
      route('GET /api/platform/scripts/libraries/wanted'),
    )
    .get(
      '',
      async ({ visitor, query }) => {
        const userId = visitor?.user.id ?? null
        if (query.feed === 'public' || userId === null) {
          const page = pageOf(query, 100)
          return kept.answer(
            pageName('library', userId, page),
            () => scripts.publicStamp(),
            async () => listed('scripts', await scripts.listPublic(page), wireFor(userId)),
          )
        }
        const page = pageOf(query, SCRIPTS_PER_USER)
        return kept.answer(
          pageName('scripts', userId, page),
          () => scripts.listStamp(userId),
          async () => listed('scripts', await scripts.listOf(userId, page), wireFor(userId)),
        )
      },
      route('GET /api/platform/scripts'),
    )
    .get(
      '/:id',
      async ({ visitor, params: { id } }) => {
        const userId = visitor?.user.id ?? null
        return kept.answer(
          `script ${userId ?? ''} ${id}`,
          () => scripts.stamp(id),
          async () => ({
            script: wireFor(userId)(await scripts.get(id, userId)),
          }),
        )
      },
      route('GET /api/platform/scripts/{id}', { etag: true }),
    )
    .get(
      '/:id/revisions',
      async ({ caller, params, query }) =>
        listed(
          'revisions',
          await scripts.revisions(caller.user.id, params.id, pageOf(query, 50)),
          ({ revision, source, savedAt }) => ({ revision, source, savedAt }),
        ),
      route('GET /api/platform/scripts/{id}/revisions'),
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
      route('PATCH /api/platform/scripts/{id}', { bodyBytes: BODY_BYTES }),
    )
    .delete(
      '/:id',
      async ({ caller, params }) => {
        await scripts.remove(caller.user.id, params.id)
        search.remove('script', params.id, caller.user.id)
        return { id: params.id }
      },
      route('DELETE /api/platform/scripts/{id}'),
    )
}
