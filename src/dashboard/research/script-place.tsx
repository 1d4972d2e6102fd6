// One script: its code and versions, its runs, and forms to optimise it, scan with it, follow it, be told by it, publish it.

import type { ComponentType } from 'preact'
import { call } from '../api-client.ts'
import { download } from '../chart/picture.ts'
import { deleteScript, openCopy, openScript, publishOrNot } from '../editor/documents.ts'
import { ago } from '../format.ts'
import { lazy } from '../frame/lazy.tsx'
import { attempt, Page, pageStyles as p, Show, useLoad } from '../frame/page.tsx'
import { href, navigate } from '../router.ts'
import { visiting } from '../session.ts'
import { favourites, star } from '../studies/catalogue.ts'
import { copyText } from '../ui/copy-text.ts'
import { item, Menu } from '../ui/menu.tsx'
import { Badge, Button, Empty, Tabs, toast } from '../ui/ui.tsx'
import { bottom } from '../workspace.ts'
import { CodeTab } from './code-tab.tsx'
import s from './research.module.css'
import { Runs } from './runs-table.tsx'
import { askToDelete, subjectItems } from './subject-menu.ts'
import { EDITOR, loadSubject, namesOf, starId, type Subject, type TabProps } from './subject.ts'
import { buttons } from '../ui/buttons.tsx'

const Optimise = lazy(async () => (await import('../sweeps/optimise.tsx')).Optimise)
const ScanForm = lazy(async () => (await import('../scans/scan-form.tsx')).ScanForm)
const ForwardForm = lazy(async () => (await import('../forward/forward-form.tsx')).ForwardForm)
const ScriptAlerts = lazy(async () => (await import('../alerts/script-alerts.tsx')).ScriptAlerts)

const TABS = [
  ['code', 'Code', CodeTab],
  ['runs', 'Runs', RunsTab],
  ['optimise', 'Optimise', Optimise],
  ['scan', 'Scan', ScanForm],
  ['forward', 'Forward', ForwardForm],
  ['alerts', 'Alerts', ScriptAlerts],
  ['publish', 'Publish', PublishTab],
] as const satisfies readonly (readonly [string, string, ComponentType<TabProps>])[]
type Tab = (typeof TABS)[number][0]

export const placeOf = (id: string, tab: Tab = 'code'): string =>
  `/research/${encodeURIComponent(id)}${tab === 'code' ? '' : `/${tab}`}`

export function ScriptPlace({ id, tab }: { readonly id: string; readonly tab: string }) {
  const loaded = useLoad((signal) => loadSubject(id, signal), [id])
  const [, , Body] = TABS.find(([name]) => name === tab) ?? TABS[0]
  const subject = loaded.data
  return (
    <Page
      title={subject?.name ?? 'Script'}
      about={subject && <Byline subject={subject} />}
      actions={subject && !visiting() && <Actions subject={subject} onChanged={loaded.reload} />}
    >
      {!visiting() && (
        <Tabs
          label="Of this script"
          wraps
          tabs={TABS.map(([name, text]) => [name, text] as const)}
          active={tab as Tab}
          onSelect={(name) => navigate(placeOf(id, name))}
        />
      )}
      <div role={visiting() ? undefined : 'tabpanel'} aria-label={tab} class={p['panel']}>
        <Show of={loaded}>{(shown) => <Body subject={shown} onChanged={loaded.reload} />}</Show>
      </div>
    </Page>
  )
}

const Byline = ({ subject: { id, kind, stored } }: { readonly subject: Subject }) => (
  <span class={p['byline']}>
    {stored ? (
      <span>by {stored.mine ? 'you' : stored.author}</span>
    ) : (
      <span>{id === EDITOR ? 'in the editor, as it stands there' : 'comes with Chartroom'}</span>
    )}
    <Badge tone={kind === 'strategy' ? 'accent' : kind === 'draft' ? 'warn' : undefined}>{kind}</Badge>
    {stored && (
      <>
        {stored.pineVersion !== null && <span>Pine v{stored.pineVersion}</span>}
        <span>version {stored.revision}</span>
        <span>changed {ago(stored.updatedAt)}</span>
        {stored.visibility === 'private' && <Badge tone="warn">private</Badge>}
      </>
    )}
  </span>
)

/** Opens it in the editor below the chart: another's or a built-in one as a copy. */
async function edit(subject: Subject): Promise<void> {
  const { id, name, source, stored } = subject
  if (stored) await openScript(id)
  else if (id !== EDITOR) openCopy(name, source, subject)
  bottom.value = 'script'
  navigate('/')
}

async function clone({ name, source }: Subject): Promise<void> {
  const copy = await call('POST /api/platform/scripts', { body: { name, source, visibility: 'private' } })
  toast('A copy is among your scripts', { tone: 'up' })
  await openScript(copy.id)
  bottom.value = 'script'
  navigate('/')
}

const remove = ({ id, name }: Subject): void =>
  askToDelete(name, async () => {
    await deleteScript(id)
    navigate('/research')
  })

function Actions({ subject, onChanged }: TabProps) {
  const { id, name, stored } = subject
  const starred = favourites.value.includes(starId(id))
  return (
    <>
      {id !== EDITOR && (
        <Button
          variant="quiet"
          icon="star"
          class={s.pin}
          label={`Star ${name}`}
          pressed={starred}
          onClick={() => star(starId(id))}
        />
      )}
      {buttons([
        stored?.mine || id === EDITOR
          ? item('Edit', 'code', () => attempt(edit(subject)))
          : item('Save a copy', 'copy', () => attempt(clone(subject))),
      ])}
      <Menu
        label={`More for ${name}`}
        items={[
          ...subjectItems(subject, 'place'),
          '-',
          item('Download', 'download', () => save(subject)),
          stored?.mine && publishing(stored, onChanged),
          stored?.mine && item('Delete', 'trash', () => remove(subject), { danger: true }),
        ]}
      />
    </>
  )
}

const publishing = (stored: NonNullable<Subject['stored']>, onChanged: () => void) =>
  item(stored.visibility === 'public' ? 'Make private' : 'Publish', 'user', () =>
    attempt(publishOrNot(stored), onChanged),
  )

function RunsTab({ subject }: TabProps) {
  return (
    <Runs
      names={namesOf(subject)}
      empty={
        <Empty title="It was not run yet">
          Run it on the chart, or choose Optimise, Scan or Forward above: what comes of it is listed here.
        </Empty>
      }
    />
  )
}

function PublishTab({ subject, onChanged }: TabProps) {
  const { id, stored } = subject
  if (!stored?.mine)
    return (
      <Empty
        title="This is not yours to publish"
        action={<Button onClick={() => attempt(clone(subject))}>Save a copy</Button>}
      >
        A copy of it is yours, and can be published with what you change.
      </Empty>
    )
  const isPublic = stored.visibility === 'public'
  const link = new URL(href(placeOf(id)), location.href).href
  return (
    <div class={p['form']} style={{ justifyItems: 'start' }}>
      <p>
        {isPublic
          ? 'Everybody on this server can find it and read its source, and anybody who has the link.'
          : 'Only you can see it.'}
      </p>
      <div class={p['actions']}>
        {buttons([
          { ...publishing(stored, onChanged), primary: !isPublic },
          item('Copy the link', 'copy', () => copyText(link, 'Link copied'), { disabled: !isPublic }),
        ])}
      </div>
    </div>
  )
}

function save({ name, source }: Subject): void {
  const file = name.replace(/[^\p{L}\p{M}\p{N}_ .-]+/gu, ' ').trim() || 'script'
  download(new Blob([source], { type: 'text/plain' }), `${file}.pine`)
}
