// Servers for benches: this source, another folder of source, or an executable, each with an owner who is signed in; and what
// they took of the processors.

import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
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

/** Time of all threads of the process so far (Linux). */
export function spentMs({ child }: Pick<BenchServer, 'child'>): number {
  let ns = 0
  for (const thread of readdirSync(`/proc/${child.pid}/task`))
    try {
      ns += Number(readFileSync(`/proc/${child.pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      // It has ended meanwhile.
    }
  return ns / 1e6
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
