// The ways in which a user can sign in: a password, identities of the provider, passkeys. The last one cannot be removed.

import { Problem } from '../../lib/problem.ts'
import type { Collection } from '../../store/collection.ts'
import { transact } from '../../store/transaction.ts'
import { identities, passkeys, users, type AccountDeps, type User } from './accounts.ts'
import { identitiesOf } from './identities.ts'
import { passkeysOf } from './passkeys.ts'

interface Removal {
  readonly user: User
  readonly id: string
  /** The identity provider of this server, of which an identity has to be to count; null = it has none. */
  readonly issuer: string | null
}

export function removeIdentity(deps: AccountDeps, removal: Removal): Promise<void> {
  const notFound = () => new Problem(404, 'identity_not_found', 'There is no such identity.')
  return removeWay(deps, removal, identities(deps.kv), notFound)
}

export function removePasskey(deps: AccountDeps, removal: Removal): Promise<void> {
  const notFound = () => new Problem(404, 'passkey_not_found', 'There is no such passkey.')
  return removeWay(deps, removal, passkeys(deps.kv), notFound)
}

async function removeWay<Way extends { readonly id: string; readonly userId: string }>(
  { kv }: AccountDeps,
  { user, id, issuer }: Removal,
  ways: Collection<Way>,
  notFound: () => Problem,
): Promise<void> {
  await transact(kv, async (tx) => {
    const stored = await ways.at(tx).stored(id)
    if (stored?.record.userId !== user.id) throw notFound()
    // The counters are read for their checks: of two ways that are removed at once, the second plan sees that the first is
    // gone.
    const now = await users(kv).at(tx).get(user.id)
    await identities(kv).at(tx).count('user', [user.id])
    await passkeys(kv).at(tx).count('user', [user.id])
    const known = (await identitiesOf({ kv }, user.id)).filter((one) => one.issuer === issuer)
    const others = [...known, ...(await passkeysOf({ kv }, user.id))].filter((one) => one.id !== id)
    if (others.length === 0 && now?.passwordHash === null)
      throw new Problem(
        409,
        'last_sign_in_way',
        'It is the last way in which you can sign in. Set a password first, or add a passkey.',
      )
    // Freeing room must be possible when there is none left.
    return { ...ways.remove(stored), essential: true }
  })
}
