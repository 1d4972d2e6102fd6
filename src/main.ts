// Plugs in the real clock, randomness and environment; everything else is handed what it needs.

import { runCommand } from './cli/commands.ts'
import { inkFor } from './cli/ink.ts'
import { boundedEnvironment } from './work/workers/machine-code.ts'
import { takeShortTurns } from './work/workers/thread-slice.ts'
import packageJson from '../package.json' with { type: 'json' }

const clock = {
  now: () => Date.now(),
  sleep: (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        // Without this, listeners would pile up: loops sleep on one signal for as long as the server runs.
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      signal?.addEventListener('abort', wake)
      if (signal?.aborted) wake()
    }),
}
const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }

// lmdb-js reports a commit that failed on a full disk a second time, to nobody; its writer has been told already.
process.on('unhandledRejection', (error) => {
  console.error(
    JSON.stringify({
      time: new Date().toISOString(),
      level: 'error',
      message: 'unhandled',
      error: String(error),
    }),
  )
})

// These addresses are right both from source and in the executable, because this file is at the root of both.
const spawnWorker = () => new Worker(new URL('./work/workers/worker.ts', import.meta.url).href)
const spawnSearch = () => new Worker(new URL('./people/search/worker.ts', import.meta.url).href)

if (process.argv[2] === 'serve') {
  const bounded = boundedEnvironment(process.env)
  const program = Bun.isStandaloneExecutable ? [] : [...process.execArgv, process.argv[1] ?? '']
  // The same process continues with other settings; on Windows, which cannot do that, it runs without them.
  if (bounded)
    try {
      process.execve?.(process.execPath, [process.argv0, ...program, ...process.argv.slice(2)], bounded)
    } catch {}
  await takeShortTurns()
}

process.exitCode = await runCommand({
  args: process.argv.slice(2),
  environment: process.env,
  clock,
  random,
  version: packageJson.version,
  spawnWorker,
  spawnSearch,
  print: (line) => console.log(line),
  ink: inkFor(process.stdout.isTTY, process.env),
  warn: (line) => console.error(line),
  warningInk: inkFor(process.stderr.isTTY, process.env),
  progress: process.stderr.isTTY ? (line) => void process.stderr.write(`\r\x1b[2K${line ?? ''}`) : undefined,
  input: () => Bun.stdin.text(),
})
