// Servers for benches: this source, another folder of source, or an executable, each with an owner who is signed in; and what
// they took of the processors.

import { dlopen, ptr } from 'bun:ffi'
import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { OWNER } from './server.ts'

export interface BenchServer {
  readonly name: string
  readonly child: Bun.Subprocess
  readonly address: string
  readonly cookie: string
  /** Its data; remove it at the end. */
  readonly folder: string
}

export async function startServer(
  place: string,
  flags: readonly string[],
  unlimited: readonly string[],
): Promise<BenchServer> {
  const folder = mkdtempSync(`${tmpdir()}/chartroom-bench-`)
  const command = statSync(place).isDirectory() ? [process.execPath, `${place}/src/main.ts`] : [place]
  const rates = unlimited.flatMap((rate) => [`--rate-${rate}`, '0'])
  const all = ['--port', '0', '--feeds', 'off', '--data-dir', folder, ...flags, ...rates]
  const child = Bun.spawn([...command, 'serve', ...all], { stdout: 'ignore', stderr: 'pipe' })
  const address = `http://127.0.0.1:${await portOf(child.stderr, place)}`
  const signedUp = await fetch(`${address}/api/auth/sign-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(OWNER),
  })
  const cookie = (signedUp.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  return { name: place, child, address, cookie, folder }
}

/** The port that a server names on its standard error. */
export async function portOf(stream: ReadableStream<Uint8Array>, name: string): Promise<string> {
  let said = ''
  for await (const chunk of stream) {
    said += new TextDecoder().decode(chunk)
    const port = /"port":(\d+)/.exec(said)?.[1]
    if (port) return port
  }
  throw new Error(`${name} did not start: ${said}`)
}

/** `MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED)` of Linux's `posix-timers.h`. */
const clockOf = (pid: number) => (~pid << 3) | 2

const libc = dlopen('libc.so.6', { clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' } })

/**
 * Processor time of the process so far, in ms, of all its threads: also of those that have ended, whose time is in no file of
 * their own any more (Linux).
 */
export function spentMs({ child }: Pick<BenchServer, 'child'>): number {
  const time = new BigInt64Array(2)
  if (libc.symbols.clock_gettime(clockOf(child.pid), ptr(time)) !== 0)
    throw new Error(`process ${child.pid} has ended`)
  return Number(time[0]) * 1000 + Number(time[1]) / 1e6
}

/** The number of rounds that was asked for. */
export function roundsOf(text: string): number {
  const rounds = Number(text)
  if (Number.isInteger(rounds) && rounds > 0) return rounds
  console.error(`--rounds is a whole number above 0, as 7, not "${text}".`)
  return process.exit(2)
}

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
