// The settings: one page with one section at a time.

import type { ComponentType } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { href, path } from '../router.ts'
import { user } from '../session.ts'
import { About } from './about.tsx'
import { Appearance } from './appearance.tsx'
import { AppSettings } from './app-settings.tsx'
import { DataSettings } from './data-settings.tsx'
import { KeySettings } from '../help/keys.tsx'
import { Inbox } from './inbox.tsx'
import { NotFound } from '../frame/not-found.tsx'
import { Page } from '../frame/page.tsx'
import { Profile } from './profile.tsx'
import s from './settings.module.css'
import { SignInWays } from './sign-in-ways.tsx'
import { Tokens } from './tokens.tsx'

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
