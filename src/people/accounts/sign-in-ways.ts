// The ways in which a user can sign in: a password, identities of the provider, passkeys. The last one cannot be removed.

import { Problem } from '../../lib/problem.ts'
import { transact, type Changes, type Tx } from '../../store/transaction.ts'
import { identities, passkeys, users, type AccountDeps, type User } from './accounts.ts'
import { identitiesOf } from './identities.ts'
import { passkeysOf } from './passkeys.ts'

interface Removal {
  readonly user: User
  readonly id: string
  /** The identity provider of this server, of which an identity has to be to count; null = it has none. */
  readonly issuer: string | null
}

export async function removeIdentity(deps: AccountDeps, removal: Removal): Promise<void> {
  await removeWay(deps, removal, async (tx) => {
    const stored = await identities(deps.kv).at(tx).stored(removal.id)
    if (stored?.record.userId !== removal.user.id)
      throw new Problem(404, 'identity_not_found', 'There is no such identity.')
    return identities(deps.kv).remove(stored)
  })
}

export async function removePasskey(deps: AccountDeps, removal: Removal): Promise<void> {
  await removeWay(deps, removal, async (tx) => {
    const stored = await passkeys(deps.kv).at(tx).stored(removal.id)
    if (stored?.record.userId !== removal.user.id)
      throw new Problem(404, 'passkey_not_found', 'There is no such passkey.')
    return passkeys(deps.kv).remove(stored)
  })
}

async function removeWay(
  { kv }: AccountDeps,
  { user, id, issuer }: Removal,
  remove: (tx: Tx) => Promise<Changes>,
): Promise<void> {
  await transact(kv, async (tx) => {
    const removed = await remove(tx)
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
    return { ...removed, essential: true }
  })
}
