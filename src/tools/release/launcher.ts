// `chartroom` of the npm package of that name: starts the executable of this machine, which is in a package of its own that npm
// installs by `os`, `cpu` and `libc`. Runs in Node 20 and later, with nothing but Node's own modules.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import process from 'node:process'
import { fileOf, npmNameOf, TARGETS, type Target } from './targets.ts'

const require = createRequire(import.meta.url)

/** npm before 10 does not look at `libc` and installs both; a machine with one of them needs no question. */
function fitting(): Target[] {
  return TARGETS.filter(({ os, cpu }) => os === process.platform && cpu === process.arch)
}

function isOfThisLibc({ libc }: Target): boolean {
  if (libc === undefined) return true
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  return (libc === 'glibc') === (header.glibcVersionRuntime !== undefined)
}

function installed(target: Target): string | null {
  try {
    return require.resolve(`${npmNameOf(target)}/${fileOf(target)}`)
  } catch {
    return null
  }
}

function fail(sentence: string): never {
  console.error(sentence)
  process.exit(1)
}

function executable(): string {
  const targets = fitting()
  const here = targets.flatMap((target) => {
    const path = installed(target)
    return path === null ? [] : [{ target, path }]
  })
  const found = here.length === 1 ? here[0] : here.find(({ target }) => isOfThisLibc(target))
  if (found !== undefined) return found.path
  const wanted = targets.find(isOfThisLibc)
  if (wanted === undefined)
    return fail(
      `Chartroom has no executable for ${process.platform} on ${process.arch}, only for ${TARGETS.map(({ name }) => name).join(', ')}; import { run } from 'chartroom' runs scripts here all the same.`,
    )
  const { version } = require('./package.json') as { version: string }
  return fail(
    `The package ${npmNameOf(wanted)} with the executable is missing, as after an install that leaves optional packages out or one on another machine: npm install ${npmNameOf(wanted)}@${version}`,
  )
}

/** The shell and, where the system tells it, who started that; other numbers once one of them has ended. */
function parents(): string {
  try {
    const status = readFileSync(`/proc/${process.ppid}/status`, 'utf8')
    return `${process.ppid} ${/^PPid:.*/m.exec(status)?.[0]}`
  } catch {
    return String(process.ppid)
  }
}

// Asked before the executable is there, since whoever sees that may end them at once.
const before = parents()
const path = executable()
// A terminal sends these two to both; the server takes a second one for impatience.
const fromTerminal = ['SIGINT', 'SIGQUIT'] as const
const passing = (['SIGTERM', 'SIGHUP', ...fromTerminal] as const).map((signal) => {
  const pass = () => {
    if (!(process.stdin.isTTY && fromTerminal.some((one) => one === signal))) child.kill(signal)
  }
  // Before there is anything to pass it to: one that comes while the executable begins is kept until this turn is over.
  process.on(signal, pass)
  return [signal, pass] as const
})
const child = spawn(path, process.argv.slice(2), { stdio: 'inherit' })
// npm starts commands through a shell. Told to stop it ends that shell, and nobody tells the command; and what ends npm itself
// leaves the shell waiting for the command.
if (process.env['npm_lifecycle_event'] !== undefined) {
  const watch = setInterval(() => {
    if (parents() === before) return
    clearInterval(watch)
    child.kill('SIGTERM')
  }, 500)
}
child.on('error', (error) => fail(`${path} cannot be started: ${error.message}`))
child.on('exit', (code, signal) => {
  for (const [name, pass] of passing) process.off(name, pass)
  if (signal === null) process.exit(code ?? 1)
  // Whoever started this one sees the same end.
  process.kill(process.pid, signal)
  process.exitCode = 128 + constants.signals[signal]
})
