// Every script of `package.json` runs where Node (with its npm) is alone, or Bun is: it begins with `npx`, which fetches the
// Bun that the project is written for. `bun run` reads `npx` as its own `bun x`.

import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { devDependencies, packageManager, scripts } from '../../package.json'

const root = `${import.meta.dir}/../..`
/** They are run by other scripts, which have seen to it that Bun is there. */
const INNER = ['here', 'verify', 'verify-long']

/** A machine's only programs: an `npx` that says what it was to run. */
const programs = mkdtempSync(`${tmpdir()}/chartroom-scripts-`)
writeFileSync(`${programs}/npx`, '#!/bin/sh\necho "$*"\n', { mode: 0o755 })
afterAll(() => rmSync(programs, { recursive: true }))

test.each(Object.keys(scripts).filter((name) => !INNER.includes(name)))('npm run %s', (name) => {
  const script = scripts[name as keyof typeof scripts]
  const { stdout, stderr, exitCode } = Bun.spawnSync(['/bin/sh', '-c', `${script} --option`], {
    env: { PATH: programs },
  })
  expect([stderr.toString(), exitCode]).toEqual(['', 0])
  const runs = stdout.toString().trim().split('\n')
  for (const run of runs) {
    const [, inner = '', file] =
      new RegExp(`^-y ${packageManager} run --silent ([\\w-]+)(?: (?:--[\\w-]+ )*(src/\\S+))?`).exec(run) ??
      []
    expect([run, INNER]).toEqual([run, expect.arrayContaining([inner])])
    if (file !== undefined) expect(existsSync(`${root}/${file}`)).toBe(true)
  }
  expect(runs.at(-1)).toEndWith(' --option')
})

test('its types are those of the Bun that runs it', () => {
  expect(packageManager).toBe(`bun@${devDependencies['bun-types']}`)
})
