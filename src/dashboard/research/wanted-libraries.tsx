// Libraries that scripts on this server import and that are missing here; shown to the owner and admins.

import { call } from '../api-client.ts'
import { AddLibrary } from '../editor/add-library.tsx'
import { pageStyles as p, useLoad } from '../frame/page.tsx'
import { user } from '../session.ts'
import { DataTable } from '../ui/data-table.tsx'
import { openDialog } from '../ui/dialogs.tsx'
import { Button } from '../ui/ui.tsx'
import { rowFields } from '../ui/wire-fields.ts' with { type: 'macro' }

const FIELDS = rowFields('GET /api/platform/scripts/libraries/wanted', 'libraries')

export function WantedLibraries() {
  const isRunning = user.value?.role === 'owner' || user.value?.role === 'admin'
  const wanted = useLoad(
    async (signal) =>
      isRunning ? (await call('GET /api/platform/scripts/libraries/wanted', { signal })).libraries : [],
    [isRunning],
  )
  const libraries = wanted.data ?? []
  const add = (path: string) => openDialog(<AddLibrary path={path} />, wanted.reload)
  if (libraries.length === 0) return null
  return (
    <section class={p['section']}>
      <h2>Libraries that scripts miss</h2>
      <p class="muted">
        Asked for by scripts of everybody on this server. A library is added by each for themselves.
      </p>
      <DataTable
        label="Libraries that scripts miss"
        rows={libraries}
        wire={FIELDS}
        keyOf={({ path }) => path}
        columns={({ actions }) => [
          { of: 'path', head: 'Library', look: 'main' },
          { of: 'users', head: 'Users' },
          { of: 'asked', head: 'Times asked' },
          { of: 'lastAt', head: 'Last asked' },
          actions('More', ({ path }) => (
            <Button size="small" onClick={() => add(path)}>
              Add
            </Button>
          )),
        ]}
      />
    </section>
  )
}
