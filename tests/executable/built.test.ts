// Suites run no executable that is older than the sources.

import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { changedAfterBuild } from './built.ts'

const folder = mkdtempSync(`${tmpdir()}/chartroom-built-`)
afterAll(() => rmSync(folder, { recursive: true }))

function put(name: string, seconds: number): string {
  const path = `${folder}/${name}`
  mkdirSync(path.slice(0, path.lastIndexOf('/')), { recursive: true })
  writeFileSync(path, '')
  utimesSync(path, seconds, seconds)
  return path
}

test('an executable is outdated by a source, sample data or a lock file that changed after it was built', () => {
  const built = put('dist/chartroom', 2000)
  const before = ['src/http/index.ts', 'src/tools/build.ts', 'data/samples/spx.csv', 'bun.lock']
  const others = ['README.md', 'tests/http/frame.test.ts', 'src/tools/test.ts']
  for (const name of [...before, ...others]) put(name, 1000)
  expect(changedAfterBuild(folder, built)).toBeNull()
  for (const name of others) put(name, 3000)
  expect(changedAfterBuild(folder, built)).toBeNull()
  for (const name of before) {
    put(name, 3000)
    expect(changedAfterBuild(folder, built)).toBe(name)
    put(name, 1000)
  }
  expect(changedAfterBuild(folder, `${folder}/dist/nothing`)).toBeNull()
})
