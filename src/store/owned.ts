// Records that belong to a user: somebody else's is not there, and nothing tells whether it exists.

import type { Problem } from '../lib/problem.ts'
import type { Collection } from './collection.ts'

/** Answers how a user's record is read, which throws `notFound()` for any other id. */
export const ownedIn =
  <T extends { readonly id: string; readonly ownerId: string }>(
    records: Collection<T>,
    notFound: () => Problem,
  ) =>
  async (ownerId: string, id: string): Promise<T> => {
    const record = await records.get(id)
    if (record?.ownerId !== ownerId) throw notFound()
    return record
  }
