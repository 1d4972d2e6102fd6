// A copy of the working tree in which one mistake at a time is made and tests are run.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { readLines, type TestFile } from './coverage.ts'

const root = `${import.meta.dir}/../../..`

/** Copies the files that git knows in the working tree, changes included. */
export function copyOfTree(): string {
  const tree = mkdtempSync(`${tmpdir()}/chartroom-mutate-`)
  const listed = Bun.spawnSync(['git', 'ls-files', '-co', '--exclude-standard'], { cwd: root })
  for (const file of listed.stdout.toString().trim().split('\n')) {
    mkdirSync(dirname(`${tree}/${file}`), { recursive: true })
    // A file that was deleted without a commit stays deleted.
    if (Bun.file(`${root}/${file}`).size > 0) cpSync(`${root}/${file}`, `${tree}/${file}`)
  }
  symlinkSync(`${root}/node_modules`, `${tree}/node_modules`)
  return tree
}

export function filesOf(tree: string, patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(tree)].sort())
}

/** Whether a test file opens pages in a browser, which takes too long to be run for each mutant. */
export function opensPages(path: string): boolean {
  return /from '[^']*(?:\/browser|seeded-site|chromium|playwright-core)(?:\.ts)?'/.test(
    readFileSync(path, 'utf8'),
  )
}

/** The files of the dashboard that tests without a browser import. */
export function testedBy(tree: string, tests: readonly string[]): string[] {
  const texts = filesOf(tree, tests)
    .filter((file) => !opensPages(`${tree}/${file}`))
    .map((file) => readFileSync(`${tree}/${file}`, 'utf8'))
  const imported = texts.flatMap((text) => text.match(/src\/dashboard\/[\w/-]+\.ts(?=')/g) ?? [])
  return [...new Set(imported)].sort()
}

/** Replaces the file's content by `text` while `work` runs. */
export async function withText<T>(path: string, text: string, work: () => Promise<T>): Promise<T> {
  const kept = readFileSync(path, 'utf8')
  writeFileSync(path, text)
  try {
    return await work()
  } finally {
    writeFileSync(path, kept)
  }
}

/** Runs one test file on the unchanged code: how long it takes, and what it covers. */
export async function measure(tree: string, file: string): Promise<TestFile> {
  const folder = mkdtempSync(`${tmpdir()}/chartroom-coverage-`)
  const from = performance.now()
  const wanted = ['--coverage', '--coverage-reporter=lcov', `--coverage-dir=${folder}`]
  const passed = await passes(tree, file, 600_000, wanted)
  if (!passed) throw new Error(`${file} fails without any mutant.`)
  const lines = readLines(`${folder}/lcov.info`)
  rmSync(folder, { recursive: true, force: true })
  return { file, ms: performance.now() - from, lines }
}

export async function passes(
  tree: string,
  file: string,
  limitMs: number,
  options: readonly string[] = [],
): Promise<boolean> {
  return await succeeds(tree, ['test', '--bail', '--timeout=600000', ...options, `./${file}`], limitMs)
}

/** Whether the types are right with a mutant in `file`: the dashboard's have a configuration of their own. */
export async function typeChecks(tree: string, file: string): Promise<boolean> {
  const project = file.startsWith('src/dashboard/') ? ['-p', 'src/dashboard'] : []
  return await succeeds(tree, ['check', '--no-script', ...project], 600_000)
}

async function succeeds(tree: string, args: readonly string[], timeout: number): Promise<boolean> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: tree,
    stdout: 'ignore',
    stderr: 'ignore',
    timeout,
    killSignal: 'SIGKILL',
    // Random tests must draw the same numbers for every mutant.
    env: { ...process.env, SEED: '1', CI: 'true' },
  })
  return (await child.exited) === 0
}
