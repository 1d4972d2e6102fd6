// The settings: one page with one section at a time.

import type { ComponentType } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { href, path } from '../router.ts'
import { user, offline } from '../session.ts'
import { About } from './about.tsx'
import { Appearance } from './appearance.tsx'
import { DataSettings } from './data-settings.tsx'
import { KeySettings } from '../help/keys.tsx'
import { NotFound } from '../frame/not-found.tsx'
import { Listed, Page, useLoad, Show, pageStyles as p, useAnswer } from '../frame/page.tsx'
import { Profile } from './profile.tsx'
import s from './settings.module.css'
import { SignInWays } from './sign-in-ways.tsx'
import { Tokens } from './tokens.tsx'
import { canWorkOffline } from '../offline/offline.ts'
import { count, ago } from '../format.ts'
import { Badge, Button, Empty } from '../ui/ui.tsx'
import { rowFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'
import { Section } from '../frame/section.tsx'
import { LoadedTable } from '../ui/loaded-table.tsx'

const SECTIONS: readonly (readonly [id: string, title: string, body: ComponentType])[] = [
  ['profile', 'Profile', Profile],
  ['sign-in', 'Sign-in', SignInWays],
  ['tokens', 'API tokens', Tokens],
  ['appearance', 'Appearance', Appearance],
  ['keys', 'Keys', KeySettings],
  ['app', 'App', AppSettings],
  ['data', 'Data', DataSettings],
  ['inbox', 'Inbox', Inbox],
  ['about', 'About', About],
]
/** Who sees what only those who run the server may see. */
const ROLES: Readonly<Record<string, readonly string[]>> = { inbox: ['owner'] }

/** At /sign-in as well, to which the identity provider sends users back who link themselves. */
export function Settings({ section: named }: { readonly section?: string }) {
  const section = named ?? (path.value === '/sign-in' ? 'sign-in' : 'profile')
  const nav = useRef<HTMLElement>(null)
  // On a narrow screen the sections are a row that scrolls: scroll the open one into view.
  useLayoutEffect(() => {
    const current = nav.current?.querySelector('[aria-current]')
    current?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [section])
  const role = user.value?.role ?? ''
  const sections = SECTIONS.filter(([id]) => ROLES[id]?.includes(role) ?? true)
  const found = sections.find(([id]) => id === section)
  if (!found) return <NotFound />
  const Body = found[2]
  return (
    <Page title="Settings">
      <div class={s.layout}>
        <nav ref={nav} class={s.nav} aria-label="Settings">
          {sections.map(([id, title]) => (
            <a key={id} href={href(`/settings/${id}`)} aria-current={id === section ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <div class={s.body}>
          <Body />
        </div>
      </div>
    </Page>
  )
}

function AppSettings() {
  return (
    <>
      <Section title="Install">
        <Install />
      </Section>
      <Section title="Offline">
        {canWorkOffline() ? <Kept /> : <p>Not here, for the same reason.</p>}
        <p>
          <a href={href('/help/install')}>More about installing and working offline</a>
        </p>
      </Section>
    </>
  )
}

function Install() {
  const { offer, installed } = offline
  if (installed.value)
    return (
      <p>
        <Badge tone="up">Installed</Badge> This is the app’s own window.
      </p>
    )
  if (!isSecureContext)
    return (
      <p>
        Not at this address: browsers install pages, and open them offline, only over https or from the
        machine itself (localhost). This page came from {location.origin}.
      </p>
    )
  if (!canWorkOffline())
    return <p>Not in this window: the browser allows no service workers here, as in private windows.</p>
  if (offer.value)
    return (
      <>
        <p>An own window and icon, on this computer or phone.</p>
        {buttons([item('Install Chartroom', 'download', () => void offline.install(), { primary: true })])}
      </>
    )
  return (
    <p>
      Use your browser’s menu: “Install Chartroom”, on an iPhone “Share”, “Add to Home Screen”. A browser that
      has no such entry cannot install pages.
    </p>
  )
}

function Kept() {
  const kept = useLoad(() => offline.count(), [])
  return (
    <Show of={kept}>
      {(answers) => (
        <>
          <p>
            The page opens without the server and shows the charts that were open last. {count(answers)}{' '}
            answers of the server are kept for that in this browser, until you sign out. What you draw offline
            is sent later.
          </p>
          <Button onClick={() => void offline.forget().then(kept.reload)}>Delete what is kept</Button>
        </>
      )}
    </Show>
  )
}

const ERROR_FIELDS = rowFields('GET /api/errors', 'errors')

function Inbox() {
  const tickets = useAnswer('GET /api/support/tickets', {}, 'tickets')
  const errors = useAnswer('GET /api/errors', {}, 'errors')
  return (
    <>
      <Section title="Messages" about="Written on the help page. Answer them by mail.">
        <Listed of={tickets} label="Messages" class={p['list']} empty={<Empty title="No messages" />}>
          {(one) => (
            <li key={one.id} class={s.file}>
              <div class={s.fileHead}>
                <strong>{one.subject}</strong>
                <span class="muted">
                  <a href={`mailto:${encodeURIComponent(one.email)}`}>{one.email}</a>, {ago(one.createdAt)}
                </span>
              </div>
              <p class={s.message}>{one.body}</p>
            </li>
          )}
        </Listed>
      </Section>
      <Section title="Errors in browsers">
        <p>Reported by this page and by integrations, alike ones counted together. Only you see them.</p>
        <LoadedTable
          label="Errors"
          of={errors}
          wire={ERROR_FIELDS}
          empty={<Empty title="No errors">That is how it should be.</Empty>}
          columns={({ own }) => [
            own('message', 'Message', 'main', ({ message, sample: { url } }) => (
              <>
                <span title={message}>{message}</span>
                <span class={p['cellNote']}>{typeof url === 'string' && url}</span>
              </>
            )),
            { of: 'count', head: 'Times' },
            { of: 'firstAt', head: 'First' },
            { of: 'lastAt', head: 'Last' },
          ]}
        />
      </Section>
    </>
  )
}
