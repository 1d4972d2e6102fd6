// A cache of credentials, so that a request need not look up and parse what the last one did.
//
// What is kept is never trusted by itself: each request asks the store whether anything was written since, and if so, whether
// the records still have the versions that were kept, in one read. So a session that was ended and a token that was revoked,
// by whichever process, count from the moment their commit is written, without anybody telling the cache.

import { sha256 } from '../../lib/sha256.ts'
import type { Collection } from '../../store/collection.ts'
import type { Key, Kv, Version } from '../../store/kv.ts'
import {
  sessions,
  tokens,
  users,
  type AccountDeps,
  type ApiToken,
  type Session,
  type User,
} from './accounts.ts'

/** How many credentials are kept, some 20 MB; the one used longest ago is dropped first. */
const KEPT_MAX = 10_000

interface Owned {
  readonly id: string
  readonly userId: string
}

interface Credential<C> {
  readonly credential: C
  readonly user: User
}

interface KnownCredential<C> {
  /** Keys of the records that the credential depends on, and the versions they had. */
  readonly keys: readonly Key[]
  readonly versions: readonly Version[]
  readonly found: Credential<C>
  /** The moment of the store at which they had them. */
  readonly at: number | undefined
}

export class Credentials {
  /** The user and session that a secret belongs to, by the current records; null if there is none. */
  readonly session: (secret: string) => Promise<Credential<Session> | null>
  readonly token: (secret: string) => Promise<Credential<ApiToken> | null>

  constructor({ kv }: Pick<AccountDeps, 'kv'>) {
    this.session = finder(kv, sessions(kv))
    this.token = finder(kv, tokens(kv))
  }
}

function finder<C extends Owned>(kv: Kv, credentials: Collection<C>) {
  const owners = users(kv)
  // A Map keeps insertion order: inserting again moves the entry to the end, as the one used last.
  const known = new Map<string, KnownCredential<C>>()

  async function look(hash: string): Promise<Credential<C> | null> {
    const at = kv.moment?.()
    const credential = await credentials.findStored('hash', [hash])
    const user = credential && (await owners.stored(credential.record.userId))
    if (!credential || !user) return null
    const found = { credential: credential.record, user: user.record }
    const keys = [credentials.keyOf(found.credential.id), owners.keyOf(found.user.id)]
    known.set(hash, { keys, versions: [credential.version, user.version], found, at })
    const [oldest] = known.keys()
    if (known.size > KEPT_MAX && oldest !== undefined) known.delete(oldest)
    return found
  }

  return async (secret: string): Promise<Credential<C> | null> => {
    const hash = sha256(secret)
    const kept = known.get(hash)
    if (!kept) return look(hash)
    const at = kv.moment?.()
    const isCurrent = at !== undefined && at === kept.at
    // A store that does not answer ends nothing of what is kept.
    const versions = isCurrent ? kept.versions : await kv.versions(kept.keys)
    known.delete(hash)
    if (!kept.versions.every((version, i) => versions[i] === version)) return look(hash)
    known.set(hash, { ...kept, at })
    return kept.found
  }
}
