// The facts can be run with another engine, which knows nothing of ours but a case and its answer (spec/README.md).

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'engine-'))
afterAll(() => rmSync(folder, { recursive: true }))

const put = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value))
put('bars.json', {
  few: {
    symbol: { symbol: 'TEST:X' },
    interval: '60',
    bars: [1, 2, 3].map((n) => [n * 36e5, n, n, n, n, 1]),
  },
})
const script = ['//@version=6', 'indicator("x")', 'plot(close, "c")']
const CASES = [
  { id: 'closes', expected: { plots: { c: [1, 2, 3] } } },
  { id: 'last-close', expected: { plots: { c: 3 } } },
  { id: 'refused', expected: { refused: 'CE10123' } },
  { id: 'silent', expected: { runs: true } },
].map((one) => ({ fact: 'One.', script, ...one }))
put('cases.json', { source: 'made here', cases: CASES })

// It reads the closes, refuses what is called so, and says nothing of one case.
const engine = join(folder, 'engine.ts')
writeFileSync(
  engine,
  `const { id, bars, symbol, interval, script, asOf } = JSON.parse(await Bun.stdin.text())
if (symbol.symbol !== 'TEST:X' || interval !== '60' || !script.startsWith('//@version=6\\n') || !asOf) throw new Error('asked otherwise')
if (id === 'refused') console.log(JSON.stringify({ refused: 'line 3: CE10123' }))
else if (id !== 'silent') console.log(JSON.stringify({ plots: { c: bars.map((bar) => (bar[4] === 2 ? 2.5 : bar[4])) } }))`,
)

test('an engine is asked by standard input, and its answers are held against what is expected', () => {
  const command = `"${process.execPath}" "${engine}"`
  const main = `${import.meta.dir}/../../src/main.ts`
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, main, 'parity', folder, '--engine', command])
  expect(exitCode).toBe(1)
  expect(stdout.toString().trimEnd().split('\n')).toEqual([
    '✗ facts: made here/closes 0/1 · c on bar 1: 2 expected, 2.5 found',
    '✓ facts: made here/last-close 1/1',
    '✓ facts: made here/refused 1/1',
    '✗ facts: made here/silent 0/1 · it did not answer with JSON; it ended with 0',
    'facts: made here: 2 of 4 exact (50.000 %), 2 of 4 cases wholly',
  ])
})
