// Looks whether the server's backup works, and tells those who run it where it does not.

import { call } from '../api-client.ts'
import { ago } from '../format.ts'
import { attempt } from '../frame/page.tsx'
import { user } from '../session.ts'

/** How often a page that stays open asks. */
const AGAIN_MS = 600_000

export function watchBackup(): void {
  let told = ''
  /** Fails with what there is to tell, once for each problem: who has closed it has read it. */
  const look = async () => {
    if (!user.value || user.value.role === 'member') return
    const { backup } = await call('GET /api/platform/backup').catch(() => ({ backup: null }))
    const before = told
    told = backup?.state === 'failing' ? (backup.problem ?? '') : ''
    if (told === '' || told === before) return
    const last = backup?.lastAt ? `The last that works is of ${ago(backup.lastAt)}.` : 'None works yet.'
    throw new Error(`The server’s backup fails (${told}). ${last} See Settings, Data.`)
  }
  attempt(look())
  setInterval(() => attempt(look()), AGAIN_MS)
}
