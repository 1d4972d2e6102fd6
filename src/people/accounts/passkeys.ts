// Passkeys (WebAuthn): keys that a browser or a phone keeps, and that sign for one host name only.
//
// The cryptography is the package @simplewebauthn/server's; here stand the decisions: the authenticator must have made sure
// of the person (PIN, finger, face), the name of the account is not typed (the passkey knows it), no attestation is asked
// for, a challenge is answered once (see tickets.ts), and a counter that does not grow means that somebody has a copy.

import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { isIP } from 'node:net'
import { Problem } from '../../lib/problem.ts'
import { sha256 } from '../../lib/sha256.ts'
import { NameTaken, transact, type Changes, type Tx } from '../../store/transaction.ts'
import { passkeys, users, type AccountDeps, type Passkey, type User } from './accounts.ts'
import { countAttempt, forgetFailures } from './throttle.ts'
import { Tickets, type TicketDeps } from './tickets.ts'

export interface PasskeyDeps extends AccountDeps {
  readonly box: TicketDeps['box']
}

/** Where a page is, as its browser sees it: `https://charts.example.com`. */
export type Origin = string

interface Challenge {
  readonly challenge: string
  readonly origin: Origin
  /** Whose passkey is being made; null while somebody signs in. */
  readonly userId: string | null
}

const PURPOSE = { register: 'a passkey', signIn: 'a sign-in with a passkey' } as const
/** Ed25519, ES256, RS256: what authenticators have. */
const ALGORITHMS = [-8, -7, -257]

/** Why a page at this address can have no passkeys; null if it can. */
export function whyNoPasskeys(origin: Origin): string | null {
  const { protocol, hostname } = new URL(origin)
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) > 0)
    return host === '127.0.0.1' || host === '::1'
      ? 'A passkey belongs to a name, and this page was opened by an IP address. Open it as localhost.'
      : 'A passkey belongs to a name, and this page was opened by an IP address. Give the server a name and https, and open it by that.'
  const isLocal = host === 'localhost' || host.endsWith('.localhost')
  if (protocol !== 'https:' && !isLocal)
    return 'Browsers have passkeys only on pages that came over https, or from localhost. Put a proxy with a certificate in front of the server.'
  return null
}

/** What the browser needs to make a passkey for the user. */
export async function beginPasskey(
  deps: PasskeyDeps,
  user: User,
  origin: Origin,
): Promise<{ readonly options: PublicKeyCredentialCreationOptionsJSON; readonly ticket: string }> {
  checkOrigin(origin)
  const { generateRegistrationOptions } = await import('./passkey-protocol.ts')
  const challenge = randomChallenge(deps)
  const options = await generateRegistrationOptions({
    rpName: 'Chartroom',
    rpID: hostOf(origin),
    userName: user.email,
    userDisplayName: user.name,
    userID: new TextEncoder().encode(user.id),
    challenge,
    attestationType: 'none',
    excludeCredentials: (await passkeysOf(deps, user.id))
      .filter(({ host }) => host === hostOf(origin))
      .map(({ credentialId }) => ({ id: credentialId })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  })
  const ticket = await tickets(deps, 'register').give({
    challenge: options.challenge,
    origin,
    userId: user.id,
  })
  return { options, ticket }
}

/** Keeps the passkey that the browser made. */
export async function addPasskey(
  deps: PasskeyDeps,
  user: User,
  made: { readonly ticket: string; readonly name: string; readonly credential: object },
): Promise<Passkey> {
  const { challenge, origin, userId } = await tickets(deps, 'register').read(made.ticket)
  if (userId !== user.id)
    throw new Problem(410, 'sign_in_expired', 'Somebody else has signed in here meanwhile. Begin again.')
  const { verifyRegistrationResponse } = await import('./passkey-protocol.ts')
  const checked = await verified(async () =>
    verifyRegistrationResponse({
      response: await withoutAttestation(made.credential as RegistrationResponseJSON),
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: hostOf(origin),
      supportedAlgorithmIDs: ALGORITHMS,
    }),
  )
  if (!checked?.verified) throw refused('The passkey that the browser made does not fit. Begin again.')
  const { credential, credentialBackedUp } = checked.registrationInfo
  const passkey: Passkey = {
    id: deps.newId('pk'),
    userId: user.id,
    name: made.name,
    host: hostOf(origin),
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    transports: (credential.transports ?? []).filter((name) => /^[a-z-]{1,20}$/.test(name)).slice(0, 10),
    isSynced: credentialBackedUp,
    createdAt: deps.clock.now(),
    lastUsedAt: null,
  }
  try {
    await transact(deps.kv, async (tx) => [
      passkeys(deps.kv).insert(passkey),
      await tickets(deps, 'register').spend(tx, made.ticket),
    ])
  } catch (error) {
    if (error instanceof NameTaken) throw new Problem(409, 'already_exists', 'This passkey is kept already.')
    throw error
  }
  return passkey
}

/** What the browser needs to sign somebody in. */
export async function beginSignIn(
  deps: PasskeyDeps,
  origin: Origin,
): Promise<{ readonly options: PublicKeyCredentialRequestOptionsJSON; readonly ticket: string }> {
  checkOrigin(origin)
  const { generateAuthenticationOptions } = await import('./passkey-protocol.ts')
  const options = await generateAuthenticationOptions({
    rpID: hostOf(origin),
    challenge: randomChallenge(deps),
    userVerification: 'required',
  })
  const ticket = await tickets(deps, 'signIn').give({ challenge: options.challenge, origin, userId: null })
  return { options, ticket }
}

/** The user whose passkey signed, and what is to be written together with the session. */
export async function userOfPasskey(
  deps: PasskeyDeps,
  { ticket, credential }: { readonly ticket: string; readonly credential: object },
): Promise<{ readonly user: User; readonly also: (tx: Tx) => Promise<readonly Changes[]> }> {
  const { challenge, origin } = await tickets(deps, 'signIn').read(ticket)
  const response = credential as AuthenticationResponseJSON
  const id: unknown = response.id
  const passkey = typeof id === 'string' ? await passkeys(deps.kv).find('credential', [sha256(id)]) : null
  const user = passkey && (await users(deps.kv).get(passkey.userId))
  if (!user) throw refused('This passkey is not known here; it may have been removed. Sign in another way.')
  await countAttempt(deps, passkey.id, true)
  const { verifyAuthenticationResponse } = await import('./passkey-protocol.ts')
  const checked = await verified(() =>
    verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: passkey.host,
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
        counter: passkey.counter,
      },
    }),
  )
  if (!checked?.verified) throw refused('The passkey’s answer does not hold. Begin again.')
  await forgetFailures(deps, passkey.id)
  const { newCounter } = checked.authenticationInfo
  return {
    user,
    async also(tx) {
      const stored = await passkeys(deps.kv).at(tx).stored(passkey.id)
      // Removed meanwhile, or a copy of it has signed meanwhile.
      if (!stored || (newCounter > 0 && newCounter <= stored.record.counter))
        throw refused('The passkey’s answer does not hold. Begin again.')
      const used = { ...stored.record, counter: newCounter, lastUsedAt: deps.clock.now() }
      return [passkeys(deps.kv).replace(stored, used), await tickets(deps, 'signIn').spend(tx, ticket)]
    },
  }
}

export function passkeysOf({ kv }: Pick<AccountDeps, 'kv'>, userId: string): Promise<Passkey[]> {
  return Array.fromAsync(passkeys(kv).each('user', [userId]))
}

export async function renamePasskey(
  deps: AccountDeps,
  user: User,
  id: string,
  name: string,
): Promise<Passkey> {
  const renamed = await passkeys(deps.kv).update(id, (passkey) =>
    passkey.userId === user.id ? { ...passkey, name } : null,
  )
  if (!renamed) throw new Problem(404, 'passkey_not_found', 'There is no such passkey.')
  return renamed
}

const tickets = (deps: PasskeyDeps, step: keyof typeof PURPOSE) => new Tickets<Challenge>(deps, PURPOSE[step])

const hostOf = (origin: Origin): string => new URL(origin).hostname

function randomChallenge({ random }: AccountDeps): Uint8Array<ArrayBuffer> {
  return new Uint8Array(random.bytes(32))
}

function checkOrigin(origin: Origin): void {
  const why = whyNoPasskeys(origin)
  if (why !== null) throw new Problem(409, 'passkeys_unavailable', why)
}

function refused(message: string): Problem {
  return new Problem(401, 'sign_in_refused', message)
}

/** null where the package refuses: it throws for everything that does not fit, whatever a stranger sends. */
function verified<T>(verify: () => Promise<T>): Promise<T | null> {
  return verify().catch(() => null)
}

/**
 * Some authenticators say who made them although nobody asked. Nothing is decided by it, so it is not looked at, and the
 * package's code for makers' certificates is not needed.
 */
async function withoutAttestation(response: RegistrationResponseJSON): Promise<RegistrationResponseJSON> {
  const { decodeAttestationObject, isoCBOR, isoBase64URL } = await import('./passkey-protocol.ts')
  const made = decodeAttestationObject(isoBase64URL.toBuffer(response.response.attestationObject))
  const bare = isoCBOR.encode(
    new Map<string, string | Map<never, never> | Uint8Array>([
      ['fmt', 'none'],
      ['attStmt', new Map<never, never>()],
      ['authData', made.get('authData')],
    ]),
  )
  return {
    ...response,
    response: { ...response.response, attestationObject: isoBase64URL.fromBuffer(bare) },
  }
}
