// Signing in, up and out. What every page needs to know of the user is in session.ts.

import { call } from '../api-client.ts'
import { enter, offline } from '../session.ts'
import { leave } from '../settings.ts'

type Typed = Readonly<Record<'email' | 'password' | 'name' | 'invitation', string>>

export async function signUp({ name, invitation, ...own }: Typed): Promise<void> {
  const body = { ...own, ...(name !== '' && { name }), ...(invitation !== '' && { invitation }) }
  await enter((await call('POST /api/auth/sign-up', { body })).user)
}

export async function signIn(email: string, password: string): Promise<void> {
  await enter((await call('POST /api/auth/sign-in', { body: { email, password } })).user)
}

/** Restarts the page, so that the next user sees nothing it holds, and nothing that waits to be sent is sent. */
export async function signOut(): Promise<void> {
  const { providerUrl } = await call('POST /api/auth/sign-out')
  leave()
  // The next user of this browser must not be shown this user's alerts.
  await import('../channels/this-browser.ts').then(({ unsubscribe }) => unsubscribe()).catch(() => undefined)
  await offline.forget()
  // The identity provider would sign the next user in without a question.
  if (providerUrl === null) location.reload()
  else location.assign(providerUrl)
}
