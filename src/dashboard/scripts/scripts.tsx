// The page of stored scripts: the caller's own, and those that others on this server have published.

import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { newScript, openScript, publishOrNot, type StoredScript } from '../editor/documents.ts'
import { href, navigate } from '../router.ts'
import { Menu } from '../ui/menu.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Badge, Button, Empty } from '../ui/ui.tsx'
import { WantedLibraries } from './wanted-libraries.tsx'
import { rowFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { attempt, Confirm, Page, pageStyles as p, Segments, Show, useLoad } from '../frame/page.tsx'

const FIELDS = rowFields('GET /api/platform/scripts', 'scripts')
export const KIND_TONES = {
  strategy: 'accent',
  indicator: undefined,
  library: undefined,
  draft: 'warn',
} as const

const open = (id: string) => attempt(openScript(id).then(() => navigate('/')))

export function Scripts() {
  const [feed, setFeed] = useState<'mine' | 'public'>('mine')
  const [deleting, setDeleting] = useState<StoredScript | null>(null)
  const list = useLoad(
    async (signal) => (await call('GET /api/platform/scripts', { query: { feed }, signal })).scripts,
    [feed],
  )
  return (
    <Page
      title="Scripts"
      about={
        feed === 'mine'
          ? 'A click opens a script on the chart and runs it. Every save keeps the version before.'
          : 'Published by people on this server. A click shows what a script does, and its source.'
      }
      actions={
        <>
          <Segments
            label="Whose scripts"
            value={feed}
            options={[
              ['mine', 'Mine'],
              ['public', 'Public'],
            ]}
            onChange={setFeed}
          />
          <Button
            variant="primary"
            icon="plus"
            onClick={() => {
              newScript()
              navigate('/')
            }}
          >
            New script
          </Button>
        </>
      }
    >
      <Show of={list}>
        {(scripts) => (
          <DataTable
            label="Scripts"
            rows={scripts}
            wire={FIELDS}
            keyOf={(one) => one.id}
            empty={
              <Empty
                title={feed === 'mine' ? 'Nothing saved yet' : 'Nobody has published one yet'}
                action={<Button onClick={() => navigate('/')}>To the editor</Button>}
              >
                {feed === 'mine'
                  ? 'Write or change a script below the chart and save it: it is listed here with its versions.'
                  : 'Publish one of yours from its menu, and everybody on this server finds it here.'}
              </Empty>
            }
            columns={[
              {
                of: 'name',
                head: 'Name',
                look: 'main',
                cell: (one) =>
                  feed === 'mine' ? (
                    <button type="button" class={p['linkButton']} onClick={() => open(one.id)}>
                      {one.name}
                    </button>
                  ) : (
                    <a href={href(`/scripts/${one.id}`)}>{one.name}</a>
                  ),
              },
              {
                of: 'kind',
                head: 'Kind',
                cell: (one) => (
                  <>
                    <Badge tone={KIND_TONES[one.kind]}>{one.kind}</Badge>{' '}
                    {one.pineVersion !== null && <span class="muted">v{one.pineVersion}</span>}
                  </>
                ),
              },
              feed === 'mine'
                ? {
                    of: 'visibility',
                    head: 'Visible to',
                    cell: (one) => (one.visibility === 'public' ? 'Everybody here' : 'You'),
                  }
                : { of: 'author', head: 'By' },
              { of: 'revision', head: 'Version' },
              { of: 'updatedAt', head: 'Changed' },
              {
                of: 'more',
                head: 'More',
                bare: true,
                look: 'end',
                cell: (one) =>
                  one.mine && (
                    <Menu
                      label={`More for ${one.name}`}
                      size="small"
                      items={[
                        { text: 'Open', icon: 'code', run: () => open(one.id) },
                        { text: 'Its page', icon: 'eye', run: () => navigate(`/scripts/${one.id}`) },
                        {
                          text: one.visibility === 'public' ? 'Make private' : 'Publish',
                          icon: 'user',
                          run: () => attempt(publishOrNot(one).then(list.reload)),
                        },
                        '-',
                        { text: 'Delete', icon: 'trash', danger: true, run: () => setDeleting(one) },
                      ]}
                    />
                  ),
              },
            ]}
          />
        )}
      </Show>
      <WantedLibraries />
      {deleting && (
        <Confirm
          title={`Delete “${deleting.name}”?`}
          action="Delete script"
          onClose={() => setDeleting(null)}
          onConfirm={async () => {
            await call('DELETE /api/platform/scripts/{id}', { path: { id: deleting.id } })
            list.reload()
          }}
        >
          Its versions go with it. Backtests that were run with it stay.
        </Confirm>
      )}
    </Page>
  )
}
