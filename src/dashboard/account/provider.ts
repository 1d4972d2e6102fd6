// To the identity provider and back: what has to be known until then is in this tab's storage, sealed by the server.

import { call } from '../api-client.ts'
import { navigate, path, query } from '../router.ts'
import { enter } from '../session.ts'

const KEPT = 'chartroom.provider'

interface Kept {
  readonly ticket: string
  /** Whether an identity is linked to the account that is signed in. */
  readonly links: boolean
  readonly back: string
}

export async function leaveToSignIn(invitation: string): Promise<void> {
  const body = invitation === '' ? {} : { invitation }
  const back = /^\/sign-(in|up)/.test(path.value) ? '/' : path.value + location.search
  leaveFor({ ...(await call('POST /api/auth/openid/start', { body })), links: false, back })
}

export async function leaveToLink(password: string): Promise<void> {
  const body = password === '' ? {} : { password }
  const back = '/settings/sign-in'
  leaveFor({ ...(await call('POST /api/auth/identities/start', { body })), links: true, back })
}

function leaveFor({ url, ...kept }: Kept & { readonly url: string }): void {
  sessionStorage.setItem(KEPT, JSON.stringify(kept))
  location.assign(url)
}

/** Whether the address is one that the provider has sent the browser back to. */
export function isBack(): boolean {
  return path.value === '/sign-in' && (query.value.has('code') || query.value.has('error'))
}

/** Finishes what was begun. Answers whether an identity was linked. */
export async function comeBack(): Promise<boolean> {
  const callback = location.search.slice(1)
  const text = sessionStorage.getItem(KEPT)
  sessionStorage.removeItem(KEPT)
  // At once: a code must not stay in the history, nor be sent again by a reload.
  navigate('/sign-in', { replace: true })
  if (text === null)
    throw new Error('This sign-in was begun in another tab or browser. Begin again here, or go back there.')
  const { ticket, links, back } = JSON.parse(text) as Kept
  const body = { ticket, callback }
  if (links) await call('POST /api/auth/identities', { body })
  else await enter((await call('POST /api/auth/openid/sign-in', { body })).user)
  navigate(back, { replace: true })
  return links
}
