import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'

const folder = mkdtempSync(`${tmpdir()}/chartroom-bench-test-`)
const root = `${import.meta.dir}/../..`
mkdirSync(`${folder}/tests`)
afterAll(() => rmSync(folder, { recursive: true }))

/** A benchmark that notes these figures. */
function benchmark(figures: Readonly<Record<string, number>>): void {
  write(Object.entries(figures).map(([name, value]) => `noteRow(${JSON.stringify(name)}, ${value}, 'ms')`))
}

function write(notes: readonly string[]): void {
  writeFileSync(
    `${folder}/tests/some.bench.ts`,
    `import { noteRow } from '${root}/tests/bench-rows.ts'\n${notes.join('\n')}\n`,
  )
}

async function bench(...args: string[]) {
  const child = Bun.spawn([process.execPath, `${root}/src/tools/bench.ts`, ...args], {
    cwd: folder,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const said = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
  return { code: await child.exited, said }
}

test('rows are saved, and a later run fails where one is slower than may be', async () => {
  benchmark({ read: 10, write: 20, gone: 5 })
  expect((await bench('--save', 'before.json')).code).toBe(0)
  expect(JSON.parse(readFileSync(`${folder}/before.json`, 'utf8'))).toHaveLength(3)
  benchmark({ read: 12, write: 10, other: 1 })
  const same = await bench('--against', 'before.json', 'some')
  expect([same.code, same.said]).toEqual([0, expect.stringContaining('×1.20')])
  for (const said of ['×0.50', 'new      other', 'not run  gone']) expect(same.said).toContain(said)
  const strict = await bench('--against', 'before.json', '--tolerance', '1.1')
  expect([strict.code, strict.said]).toEqual([1, expect.stringContaining('SLOWER')])
})

test('what was measured beside a limit is compared by its share, as a busy machine slows both down', async () => {
  write([`noteRow('a list', 50, 'µs', { limit: 25 })`])
  expect((await bench('--save', 'shares.json')).code).toBe(0)
  write([`noteRow('a list', 100, 'µs', { limit: 50 })`])
  const busy = await bench('--against', 'shares.json')
  expect([busy.code, busy.said]).toEqual([0, expect.stringContaining('×1.00')])
  write([`noteRow('a list', 50, 'µs', { limit: 10 })`])
  const slower = await bench('--against', 'shares.json')
  expect([slower.code, slower.said]).toEqual([1, expect.stringContaining('×2.50')])
})

test('the table of figures gets the rows of which something is wanted, and keeps those that were not measured', async () => {
  const notes = [
    `noteRow('a list', 52, 'µs', { limit: 21, wanted: '≥ 0.5' })`,
    `noteRow('not shown', 1, 'ms')`,
    `noteRow('start', 4.25, 'ms', { wanted: '≤ 60 ms' })`,
  ]
  write(notes)
  const refusal = await bench('--figures', 'some')
  expect([refusal.code, refusal.said]).toEqual([2, expect.stringContaining('no place for figures')])
  const around = [
    '# Title\n\n<!-- figures of `npm run bench -- --figures` -->',
    '<!-- end of figures -->\nMore.\n',
  ]
  const old =
    '| what | measured | limit | share of it | wanted |\n| - | - | - | - | - |\n| old | 7 ms | | | |\n| start | 9 ms | | | ≤ 60 ms |'
  writeFileSync(`${folder}/tests/FIGURES.md`, around.join(`\n\n${old}\n\n`))
  for (let i = 0; i < 2; i++) {
    expect((await bench('--figures', 'some')).code).toBe(0)
    expect(readFileSync(`${folder}/tests/FIGURES.md`, 'utf8')).toBe(
      around.join(`

| what   | measured | limit | share of it | wanted  |
| ------ | -------: | ----: | ----------: | ------- |
| old    |     7 ms |       |             |         |
| start  |   4.3 ms |       |             | ≤ 60 ms |
| a list |    52 µs | 21 µs |        0.40 | ≥ 0.5   |

`),
    )
  }
})

test('a file that is not there, or holds something else, and names of nothing are answered in a sentence', async () => {
  benchmark({ read: 10 })
  writeFileSync(`${folder}/other.json`, '{"a":1}')
  for (const [args, sentence] of [
    [['--against', 'nowhere.json'], 'There is no file nowhere.json'],
    [['--against', 'other.json'], 'holds no rows'],
    [['--tolerance', 'x', '--against', 'other.json'], '--tolerance is a number'],
    [['nothing'], 'No benchmark is named "nothing"'],
  ] as const) {
    const { code, said } = await bench(...args)
    expect([code, said]).toEqual([2, expect.stringContaining(sentence)])
  }
})
