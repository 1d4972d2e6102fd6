// Runs a command as `main.ts` does, but with a data directory of its own, a clock that stands and captured output.

import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Http } from '../../src/market/providers/provider.ts'
import { runCommand } from '../../src/cli/commands.ts'
import { PLAIN } from '../../src/cli/ink.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { Kv } from '../../src/store/kv.ts'
import { openStore } from '../../src/store/open-store.ts'
import { openPostgres } from '../../src/store/postgres/open-postgres.ts'
import { storeOf } from '../store/own-database.ts'
import { realClock } from '../store/postgres-stores.ts'

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

const folders: string[] = []
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

export function temporaryFolder(): string {
  const folder = mkdtempSync(`${tmpdir()}/chartroom-cli-`)
  folders.push(folder)
  return folder
}

/** What commands in that data directory work on, to put something there or to look. */
export async function openKept(directory: string): Promise<Kv> {
  const { STORE } = await storeOf(directory)
  if (STORE === undefined) return openStore({ directory })
  return (await openPostgres({ url: STORE, clock: realClock, random, node: 'test' })).kv
}

/** `chartroom(dir, 'bars', 'list')`. */
export async function chartroom(directory: string, ...args: string[]): Promise<Outcome> {
  return withInput('', directory, ...args)
}

export async function withInput(input: string, directory: string, ...args: string[]): Promise<Outcome> {
  return withHttp(() => Promise.reject(new Error('there is no network')), directory, args, input)
}

const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }

const STANDING: Clock = { now: () => Date.UTC(2026, 10, 20), sleep: () => Promise.resolve() }

export const withClock = (clock: Clock, directory: string, ...args: string[]): Promise<Outcome> =>
  withHttp(() => Promise.reject(new Error('there is no network')), directory, args, '', clock)

export async function withHttp(
  http: Http,
  directory: string,
  args: readonly string[],
  input = '',
  clock: Clock = STANDING,
): Promise<Outcome> {
  const out: string[] = []
  const err: string[] = []
  const store = await storeOf(directory)
  const code = await runCommand({
    args,
    environment: { DATA_DIR: directory, ...store },
    // A database answers in its own time.
    clock: 'STORE' in store ? { now: () => clock.now(), sleep: realClock.sleep } : clock,
    random,
    version: '0.0.0',
    spawnWorker: () => new Worker(new URL('../../src/work/workers/worker.ts', import.meta.url).href),
    spawnSearch: () => new Worker(new URL('../../src/people/search/worker.ts', import.meta.url).href),
    print: (line) => out.push(line),
    ink: PLAIN,
    warn: (line) => err.push(line),
    warningInk: PLAIN,
    input: () => Promise.resolve(input),
    http,
  })
  return { code, out: out.join('\n'), err: err.join('\n') }
}
