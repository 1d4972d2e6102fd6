// Answers stored tracks as columns. They are stored as JSON, which is parsed here and not on the server's own thread.

import { pack } from '../wire/columns.ts'
import type { PackJob, PackOutput } from './job.ts'
import { storedValue } from './stored-text.ts'
import type { Desk } from './worker-loop.ts'

export async function packJob({ at }: PackJob, { host }: Pick<Desk, 'host'>): Promise<PackOutput> {
  return pack(await storedValue(host, 'tracks'), at)
}
