// What a sweep of 10,000 trials costs a server, and what others notice of it:
//
//     bun run bench sweeping
//
// A server from source, an SMA cross over 50,000 bars, with one thread for scripts and then with two: trials a second, time of
// the processor a trial (all threads of the process), how much memory grows from the first thousand trials to the last, and
// how long others wait for their answers meanwhile, beside what they wait when nothing runs. Since they ask all the time, a
// sweep leaves them a processor: on two processors both columns are of one thread at work. A busy loop of the same priority
// as jobs, beside an idle server, costs others something too: that is what a sweep can at best. On a busy machine compare
// the columns with each other, not with another day's. Linux only.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { noteRow } from '../../bench-rows.ts'
import { CROSS } from './sweep-server.ts'

const [BARS, TRIALS] = [50_000, 10_000]
const LOOK_MS = 250
/** The priority of jobs. */
const NICE = 10
/** Others ask so often: what they cost is in the processor's time too. */
const ASK_MS = 25
const TICKS_A_SECOND = 100
const SWEEP = {
  name: 'cross',
  exchange: 'X',
  symbol: 'ABC',
  interval: '1m',
  bars: BARS,
  source: CROSS,
  space: [
    { input: 'Fast', min: 2, max: 101, step: 1 },
    { input: 'Slow', min: 110, max: 209, step: 1 },
  ],
}

for (const threads of [1, 2]) await measured(threads)

async function measured(threads: number): Promise<void> {
  const folder = mkdtempSync(`${tmpdir()}/chartroom-sweeping-`)
  const child = Bun.spawn(
    [
      process.execPath,
      'src/main.ts',
      'serve',
      '--port',
      '0',
      '--data-dir',
      folder,
      '--signup',
      'open',
      '--feeds',
      'off',
    ],
    // The pool keeps a thread for what must not wait.
    {
      stdout: 'ignore',
      stderr: 'pipe',
      env: { ...process.env, WORKERS: String(threads + 1), RATE_USER: '0', RATE_BACKTESTS: '0' },
    },
  )
  try {
    const address = await addressOf(child.stderr)
    const signedUp = await fetch(`${address}/api/auth/sign-up`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'bench@example.com', password: 'correct horse battery' }),
    })
    const cookie = /^[^;]+/.exec(signedUp.headers.get('set-cookie') ?? '')?.[0] ?? ''
    const ask = async (method: string, path: string, body?: string, type = 'application/json') => {
      const headers = { cookie, ...(body !== undefined && { 'content-type': type }) }
      const answer = await fetch(`${address}/api/platform/${path}`, { method, headers, body: body ?? null })
      const text = await answer.text()
      if (!answer.ok) throw new Error(text)
      return JSON.parse(text)
    }
    await ask('POST', 'bars/import?exchange=X&symbol=ABC&interval=1m', minutes(BARS), 'text/csv')
    const others = async () => {
      const started = performance.now()
      await ask('GET', 'bars?exchange=X&symbol=ABC&interval=1m&limit=500')
      await ask('GET', 'alerts')
      return (performance.now() - started) / 2
    }
    for (let i = 0; i < 100; i++) await others()
    const idle: number[] = []
    for (let i = 0; i < 400; i++) {
      idle.push(await others())
      await Bun.sleep(ASK_MS)
    }

    const loop = Bun.spawn(['nice', '-n', String(NICE), process.execPath, '-e', 'for (;;);'])
    const beside: number[] = []
    for (let i = 0; i < 400; i++) {
      beside.push(await others())
      await Bun.sleep(ASK_MS)
    }
    loop.kill()

    const { id } = await ask('POST', 'sweeps', JSON.stringify(SWEEP))
    const busy: number[] = []
    const memory: { readonly tried: number; readonly megabytes: number }[] = []
    const cpuBefore = cpuSeconds(child.pid)
    const started = performance.now()
    let looked = 0
    let sweep = (await ask('GET', `sweeps/${id}`)).sweep
    while (sweep.tried < TRIALS && sweep.state !== 'failed') {
      busy.push(await others())
      await Bun.sleep(ASK_MS)
      if (performance.now() - looked > LOOK_MS) {
        looked = performance.now()
        sweep = (await ask('GET', `sweeps/${id}`)).sweep
        memory.push({ tried: sweep.tried, megabytes: residentBytes(child.pid) / 2 ** 20 })
      }
    }
    if (sweep.failed > 0 || sweep.state === 'failed') throw new Error(JSON.stringify(sweep.error))
    const seconds = (performance.now() - started) / 1000
    const cpu = (cpuSeconds(child.pid) - cpuBefore) / TRIALS
    const early = memory.filter(({ tried }) => tried >= TRIALS / 10 && tried < TRIALS / 5)
    const peak = (of: typeof memory) => Math.max(0, ...of.map(({ megabytes }) => megabytes))
    const grown = peak(memory.filter(({ tried }) => tried >= TRIALS / 5)) - peak(early)
    print(threads, 'trials a second', TRIALS / seconds, '')
    print(threads, 'processor a trial', cpu * 1000, 'ms')
    print(threads, 'memory grown since the first tenth', grown, 'MB')
    print(threads, 'others, p99 idle', quantile(idle, 0.99), 'ms')
    print(threads, 'others, p99 beside a busy loop', quantile(beside, 0.99), 'ms')
    print(threads, 'others, p99 meanwhile', quantile(busy, 0.99), 'ms')
  } finally {
    child.kill()
    await child.exited
    rmSync(folder, { recursive: true })
  }
}

function print(threads: number, what: string, value: number, unit: string): void {
  console.log(
    `${threads} of ${availableParallelism()} processors: ${what.padEnd(36)} ${value.toFixed(2)} ${unit}`,
  )
  if (unit !== '') noteRow(`sweeping, ${threads}: ${what}`, value, unit)
}

async function addressOf(said: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of said) {
    text += new TextDecoder().decode(chunk)
    const port = /"port":(\d+)/.exec(text)?.[1]
    if (port) return `http://127.0.0.1:${port}`
  }
  throw new Error(`it did not start: ${text}`)
}

/** User and system time of all threads of a process. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
}

function residentBytes(pid: number): number {
  return 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN
}

function minutes(count: number): string {
  let [state, price] = [7, 100]
  const rows = Array.from({ length: count }, (_, i) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    const open = price
    price = Math.max(10, price + (state / 0x7fffffff - 0.5) * 0.4)
    const [high, low] = [Math.max(open, price) + 0.05, Math.min(open, price) - 0.05]
    return [Date.UTC(2020, 0, 1) + i * 60_000, open, high, low, price, 5].join(',')
  })
  return `time,open,high,low,close,volume\n${rows.join('\n')}\n`
}
