// `bun run check`: all checks of the code that do not run it.
import { freemem } from 'node:os'
import process from 'node:process'

const steps: readonly (readonly [name: string, command: readonly string[]])[] = [
  ['format', ['bun', 'fmt', '--check', '--no-script', 'src', 'tests']],
  ['lint', ['bun', 'x', 'oxlint', '--type-aware', '--deny-warnings', 'src', 'tests']],
  ['types', ['bun', 'check', '--no-script']],
  ['types of the dashboard', ['bun', 'check', '--no-script', '-p', 'src/dashboard']],
  ['types of the playground', ['bun', 'check', '--no-script', '-p', 'src/playground']],
  ['types of its tests', ['bun', 'check', '--no-script', '-p', 'tests/dashboard']],
  ['unused code', ['bun', 'x', 'knip']],
  ['rooms', ['bun', 'test', '--timeout=60000', 'tests/tidy.test.ts']],
]

/**
 * The types behind the lints take 2.6 GB. Go, which that is written in, else collects garbage all the while: 40 seconds of the
 * processor instead of 24. It collects where half of the memory that is free does not suffice.
 */
const env = { ...process.env, GOGC: 'off', GOMEMLIMIT: String(Math.max(2 ** 30, Math.floor(freemem() / 2))) }

const results = await Promise.all(
  steps.map(async ([name, [, ...args]]) => {
    const child = Bun.spawn([process.execPath, ...args], { stdout: 'pipe', stderr: 'pipe', env })
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { name, code, output: out + err }
  }),
)
for (const { name, code, output } of results) {
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name}`)
  if (code !== 0) console.log(output)
}
process.exit(results.some((result) => result.code !== 0) ? 1 : 0)
