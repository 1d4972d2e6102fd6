// Scripts: stored Pine source with its diagnostics and versions, and the check that an editor calls while the user types.

import { SCRIPTS_PER_USER, type Script, type ScriptMade } from '../people/scripts/scripts.ts'
import { Problem } from '../lib/problem.ts'
import type { Script as ScriptWire } from '../wire/script.ts'
import { JsonText } from './json-text.ts'
import { scriptItem } from './search-items.ts'
import { listed, pageName, pageOf } from './fields.ts'
import type { Routes } from './route.ts'

const BODY_BYTES = 1024 * 1024

const wireFor =
  (userId: string | null) =>
  ({ ownerId, inputs = {}, overrides = {}, ...shown }: Script): ScriptWire => ({
    ...shown,
    inputs,
    overrides,
    mine: ownerId === userId,
  })

export const SCRIPT_ROUTES: Routes = {
  'POST /api/platform/scripts': {
    bodyBytes: BODY_BYTES,
    handle: ({ deps, caller: { user }, body, once }) =>
      once(
        ({ script, diagnostics }: ScriptMade) => ({
          id: script.id,
          script: wireFor(user.id)(script),
          diagnostics: new JsonText(diagnostics),
        }),
        async (also) => {
          const made = await deps.features.scripts.create(user.id, user.name, body, also)
          deps.features.search.put(scriptItem(made.script))
          return made
        },
      ),
  },
  'POST /api/platform/scripts/check': {
    bodyBytes: BODY_BYTES,
    handle: async ({ deps, caller, body, request }) => {
      const { kind, pineVersion, ...found } = await deps.features.texts.check(
        caller.user.id,
        body.source,
        request.signal,
      )
      return {
        kind,
        pineVersion,
        inputs: new JsonText(found.inputs),
        plots: new JsonText(found.plots),
        declaration: new JsonText(found.declaration),
        given: new JsonText(found.given),
        diagnostics: new JsonText(found.diagnostics),
      }
    },
  },
  'POST /api/platform/scripts/format': {
    bodyBytes: BODY_BYTES,
    handle: async ({ deps, caller, body, request }) => ({
      source: await deps.features.texts.format(caller.user.id, body.source, request.signal),
    }),
  },
  'POST /api/platform/scripts/libraries': {
    bodyBytes: BODY_BYTES,
    handle: async ({ deps, caller: { user }, body: { path, source } }) => {
      const { script, diagnostics } = await deps.features.scripts.addLibrary(user.id, user.name, path, source)
      deps.features.search.put(scriptItem(script))
      return { id: script.id, script: wireFor(user.id)(script), diagnostics: new JsonText(diagnostics) }
    },
  },
  'GET /api/platform/scripts/libraries/wanted': async ({ deps, caller: { user } }) => {
    if (user.role === 'member') throw new Problem(404, 'not_found', 'There is nothing here.')
    return { libraries: await deps.features.wantedLibraries.list() }
  },
  'GET /api/platform/scripts': async ({ deps, visitor, query }) => {
    const userId = visitor?.user.id ?? null
    if (query.feed === 'public' || userId === null) {
      const page = pageOf(query, 100)
      return deps.kept.answer(
        pageName('library', userId, page),
        () => deps.features.scripts.publicStamp(),
        async () => listed('scripts', await deps.features.scripts.listPublic(page), wireFor(userId)),
      )
    }
    const page = pageOf(query, SCRIPTS_PER_USER)
    return deps.kept.answer(
      pageName('scripts', userId, page),
      () => deps.features.scripts.listStamp(userId),
      async () => listed('scripts', await deps.features.scripts.list(userId, page), wireFor(userId)),
    )
  },
  'GET /api/platform/scripts/{id}': {
    etag: true,
    handle: async ({ deps, visitor, params: { id } }) => {
      const userId = visitor?.user.id ?? null
      return deps.kept.answer(
        `script ${userId ?? ''} ${id}`,
        () => deps.features.scripts.stamp(id),
        async () => ({
          script: wireFor(userId)(await deps.features.scripts.read(id, userId)),
        }),
      )
    },
  },
  'GET /api/platform/scripts/{id}/revisions': async ({ deps, caller, params, query }) =>
    listed(
      'revisions',
      await deps.features.scripts.revisions(caller.user.id, params.id, pageOf(query, 50)),
      ({ revision, source, savedAt }) => ({ revision, source, savedAt }),
    ),
  'PATCH /api/platform/scripts/{id}': {
    bodyBytes: BODY_BYTES,
    handle: async ({ deps, caller, params, body }) => {
      const { script, diagnostics } = await deps.features.scripts.change(caller.user.id, params.id, body)
      deps.features.search.put(scriptItem(script))
      return {
        script: wireFor(caller.user.id)(script),
        diagnostics: new JsonText(diagnostics),
      }
    },
  },
  'DELETE /api/platform/scripts/{id}': async ({ deps, caller, params }) => {
    await deps.features.scripts.remove(caller.user.id, params.id)
    deps.features.search.remove('script', params.id, caller.user.id)
    return { id: params.id }
  },
}
