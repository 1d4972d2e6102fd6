// What was dropped and is no bars: watchlists, scripts and alerts as TradingView exports them become the same here, and one
// report says what came of each file.

import {
  cameText,
  foundFiles,
  moved,
  type FoundFile,
  type Maker,
  type MovedFile,
} from '../../market/files/moving-in.ts'
import { call } from '../api-client.ts'
import { pageStyles as p } from '../frame/page.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { loadWatchlists } from '../watchlists/lists.ts'

/** Larger files are bars, which the server reads as they arrive. */
const READ_MAX = 32 << 20

const MAKER: Maker = {
  async make({ operation, body }, key) {
    const headers = { 'idempotency-key': key }
    // Each body was made to what its operation takes, and the server checks it.
    const { id } = await call(operation, { body: body as never, headers })
    return id
  },
  pause: (id) => call('PATCH /api/platform/alerts/{id}', { path: { id }, body: { state: 'paused' } }),
}

/** Moves in what is no bars, and answers the files of bars, which are looked at before anything is stored. */
export async function movedIn(
  files: readonly File[],
  report: (row: MovedFile) => void,
): Promise<readonly File[]> {
  const bars: File[] = []
  for (const file of files) {
    const found =
      file.size > READ_MAX
        ? null
        : await foundFiles([{ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) }])
    // An archive of nothing but bars stays as it is.
    if (found === null || found.every(({ kind }) => kind === 'bars') || isForServer(found)) {
      bars.push(file)
      continue
    }
    for (const one of found)
      if (one.kind === 'bars') bars.push(new File([one.bytes], one.name.replace(/^.*\//, '')))
      else report(await moved(one, MAKER))
    if (found.some(({ kind }) => kind === 'watchlist')) await loadWatchlists()
  }
  return bars
}

/** An archive that is not read here may be one that the server reads. */
const isForServer = ([first, ...others]: readonly FoundFile[]): boolean =>
  first?.kind === 'unknown' && others.length === 0 && /\.zip$/i.test(first.name)

export function MovedIn({ rows }: { readonly rows: readonly MovedFile[] }) {
  if (rows.length === 0) return null
  return (
    <section class={p['section']} role="status">
      <h3>What came</h3>
      <DataTable
        label="What came"
        rows={rows}
        columns={({ own }) => [
          { of: 'name', head: 'File', look: 'main', cell: ({ name }) => name },
          own('came', 'Came', '', (row) => cameText(row) || (row.left.length > 0 ? row.kind : 'nothing')),
          own('left', 'Not taken, and why', 'note', ({ left }) =>
            left.map((why) => <div key={why}>{why}</div>),
          ),
        ]}
      />
    </section>
  )
}
