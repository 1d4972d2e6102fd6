// The command of the npm package: which executable it starts, what it hands on, and what it says where there is none. The
// executables are stand-ins; `npx.test.ts` has the real one.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isTurn } from '../long.ts'
import { npmPackage } from '../../src/tools/npm-package.ts'
import { npmNameOf, TARGETS } from '../../src/tools/release/targets.ts'

const node = Bun.which('node')
const folder = mkdtempSync(`${tmpdir()}/chartroom-launcher-`)
const modules = `${folder}/node_modules`
afterAll(() => rmSync(folder, { recursive: true }))

beforeAll(async () => {
  const files = await npmPackage()
  mkdirSync(`${modules}/chartroom`, { recursive: true })
  for (const name of ['command.js', 'package.json'])
    writeFileSync(`${modules}/chartroom/${name}`, files.get(name)!)
}, 60_000)

beforeEach(() => rmSync(`${modules}/@chartroom`, { recursive: true, force: true }))

/** A package with a shell script as its executable. */
function put(target: string, script: string, mode = 0o755): void {
  mkdirSync(`${modules}/@chartroom/${target}`, { recursive: true })
  writeFileSync(`${modules}/@chartroom/${target}/chartroom`, `#!/bin/sh\n${script}\n`)
  chmodSync(`${modules}/@chartroom/${target}/chartroom`, mode)
}

/** Starts the command, on another machine where `as` names one. */
function start(args: readonly string[] = [], as: { platform?: string; arch?: string; glibc?: string } = {}) {
  const machine = Object.entries({ platform: 'linux', arch: 'x64', ...as })
    .filter(([name]) => name !== 'glibc')
    .map(([name, value]) => `Object.defineProperty(process, '${name}', { value: '${value}' });`)
  const report = `process.report.getReport = () => (${JSON.stringify({ header: { glibcVersionRuntime: as.glibc ?? '2.36' } })});`
  const other = `data:text/javascript,${encodeURIComponent(`${machine.join('')}${as.glibc === '' ? report.replace('""', 'undefined') : report}`)}`
  return Bun.spawn([node!, '--import', other, `${modules}/chartroom/command.js`, ...args], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

async function ended(child: ReturnType<typeof start>) {
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { out, err, code, signal: child.signalCode }
}

describe.skipIf(node === null || process.platform === 'win32')('chartroom of npm', () => {
  test('hands on arguments as they are, what is printed, and the exit code', async () => {
    put('linux-x64', 'printf "[%s]" "$@"; echo wrong >&2; exit 7')
    const { out, err, code } = await ended(start(['backtest', 'a b.pine', '', '--set', "x='1'"]))
    expect([out, err, code]).toEqual(["[backtest][a b.pine][][--set][x='1']", 'wrong\n', 7])
  })

  test.each(['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const)(
    '%s reaches the executable once, which ends as it likes',
    async (signal) => {
      // A shell waits for its sleep before it looks at a signal, so the sleep is behind.
      put('linux-x64', `trap 'echo got; exit 5' ${signal.slice(3)}; sleep 60 & echo ready; wait; wait`)
      const child = start()
      const reader = child.stdout.getReader()
      expect(new TextDecoder().decode((await reader.read()).value)).toBe('ready\n')
      child.kill(signal)
      expect(new TextDecoder().decode((await reader.read()).value)).toBe('got\n')
      expect(await child.exited).toBe(5)
    },
  )

  test('Ctrl+C at a terminal reaches the executable once', async () => {
    put('linux-x64', "trap 'echo got' INT; echo ready; until read line; do :; done; echo over")
    // Says so when the command itself has seen the signal, and done with it what it does.
    const seen = "process.on('SIGINT', () => setImmediate(() => console.log('seen')))"
    let said = ''
    const { promise, resolve } = Promise.withResolvers<void>()
    const child = Bun.spawn(
      [node!, '--import', `data:text/javascript,${seen}`, `${modules}/chartroom/command.js`],
      {
        terminal: {
          data(terminal, bytes) {
            said += new TextDecoder().decode(bytes)
            if (said.endsWith('ready\r\n')) terminal.write('\u0003')
            if (said.includes('over')) resolve()
            else if (said.includes('got') && said.includes('seen')) terminal.write('\r')
          },
        },
      },
    )
    await promise
    expect(said.match(/got/g)).toHaveLength(1)
    expect(await child.exited).toBe(0)
  })

  const command = `'${node}' '${modules}/chartroom/command.js'; true`
  test.each([
    ['the shell through which npm started it', ['sh', '-c', command], 'SIGTERM'],
    ['npm itself', ['sh', '-c', 'sh -c "$1"; true', 'npm', command], 'SIGKILL'],
  ] as const)('the end of %s is a SIGTERM to the executable', async (_, starting, signal) => {
    put('linux-x64', `trap 'echo got; exit' TERM; sleep 60 & echo ready; wait; wait`)
    const starter = Bun.spawn([...starting], {
      stdin: 'ignore',
      stdout: 'pipe',
      env: { ...process.env, npm_lifecycle_event: 'npx' },
    })
    const reader = starter.stdout.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('ready\n')
    starter.kill(signal)
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('got\n')
  })

  test('an executable that a signal ended ends the command by the same', async () => {
    put('linux-x64', 'kill -KILL $$')
    expect((await ended(start())).signal).toBe('SIGKILL')
  })

  test('takes the one of the libc where both are installed, and the only one where one is', async () => {
    put('linux-x64', 'echo glibc')
    put('linux-x64-musl', 'echo musl')
    expect((await ended(start())).out).toBe('glibc\n')
    expect((await ended(start([], { glibc: '' }))).out).toBe('musl\n')
    rmSync(`${modules}/@chartroom/linux-x64`, { recursive: true })
    expect((await ended(start())).out).toBe('musl\n')
  })

  test('says in one sentence that there is no executable for a machine', async () => {
    for (const as of [{ platform: 'freebsd' }, { arch: 'riscv64' }]) {
      const { err, code, out } = await ended(start(['serve'], as))
      expect([code, out]).toEqual([1, ''])
      expect(err).toMatch(/^Chartroom has no executable for [a-z]+ on \w+, only for linux-x64, .*\.\n$/)
    }
  })

  const inTurn = TARGETS.filter((_target, i) => isTurn(0, i, TARGETS.length))
  test.each(inTurn.map((target) => [target.name, target] as const))(
    'says which package is missing on %s',
    async (_name, target) => {
      const as = { platform: target.os, arch: target.cpu, glibc: target.libc === 'musl' ? '' : '2.36' }
      const { err, code } = await ended(start([], as))
      expect(code).toBe(1)
      expect(err).toMatch(
        new RegExp(
          `^The package ${npmNameOf(target)} .* npm install ${npmNameOf(target)}@\\d+\\.\\d+\\.\\d+\n$`,
        ),
      )
    },
  )

  test('says that an executable may not be started', async () => {
    put('linux-x64', '', 0o644)
    const { err, code } = await ended(start())
    expect(code).toBe(1)
    expect(err).toMatch(/^\S+\/@chartroom\/linux-x64\/chartroom cannot be started: spawn .*EACCES\n$/)
  })
})
