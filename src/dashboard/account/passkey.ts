// Passkeys in this browser: what it is asked, and what it says when nothing came of it, in words.

import { call } from '../api-client.ts'
import { enter } from '../session.ts'

/** Browsers have them on pages that came over https or from this machine. */
export const hasPasskeys = (): boolean =>
  typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential

export async function signInWithPasskey(): Promise<void> {
  const { options, ticket } = await call('POST /api/auth/passkey/start')
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as never)
  const credential = await answered(navigator.credentials.get({ publicKey }))
  await enter((await call('POST /api/auth/passkey/sign-in', { body: { ticket, credential } })).user)
}

export async function addPasskey(name: string, password: string): Promise<void> {
  const body = password === '' ? {} : { password }
  const { options, ticket } = await call('POST /api/auth/passkeys/start', { body })
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never)
  const credential = await answered(navigator.credentials.create({ publicKey }))
  await call('POST /api/auth/passkeys', { body: { ticket, name, credential } })
}

async function answered(asked: Promise<Credential | null>): Promise<Record<string, unknown>> {
  const credential = await asked.catch((error: unknown) => {
    throw new Error(
      REFUSALS[error instanceof DOMException ? error.name : ''] ?? 'The browser could not do it.',
    )
  })
  if (!(credential instanceof PublicKeyCredential)) throw new Error('The browser gave no passkey.')
  return credential.toJSON() as unknown as Record<string, unknown>
}

const REFUSALS: Readonly<Record<string, string>> = {
  NotAllowedError:
    'Nothing was done: it was cancelled, it took too long, or there is no passkey for this page.',
  InvalidStateError: 'This device has a passkey for your account already.',
  SecurityError: 'The browser has no passkeys for this address.',
  NotSupportedError: 'This device cannot make passkeys of the kind that is needed.',
}
