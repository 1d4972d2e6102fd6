// Who is signed in. `undefined` = not asked yet, null = nobody.

import type { User } from '../wire/account.ts'
import { signal } from '@preact/signals'
import { ApiError, call } from './api-client.ts'

export type { User }

export const user = signal<User | null | undefined>(undefined)
/** Who may sign up: the first user (who will own the server), everybody, or those with an invitation. */
export const signUpState = signal<'owner' | 'open' | 'invited'>('invited')

/** Does it take a code, of an invitation or the setup link? The first user needs none on the server's own machine. */
export const signUpNeedsCode = signal(true)

export async function loadSession(): Promise<void> {
  try {
    const visitor = await call('GET /api/auth/visitor')
    signUpNeedsCode.value = visitor.needsCode
    signUpState.value = visitor.signUp
    user.value = visitor.user
  } catch (error) {
    if (error instanceof ApiError && error.status !== 0) user.value = null
    else throw error
  }
}

export async function signUp(
  email: string,
  password: string,
  name: string,
  invitation: string,
): Promise<void> {
  const body = { email, password, ...(name !== '' && { name }), ...(invitation !== '' && { invitation }) }
  user.value = (await call('POST /api/auth/sign-up', { body })).user
}

export async function signIn(email: string, password: string): Promise<void> {
  user.value = (await call('POST /api/auth/sign-in', { body: { email, password } })).user
}

export async function signOut(): Promise<void> {
  await call('POST /api/auth/sign-out')
  user.value = null
}
