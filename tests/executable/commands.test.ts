// The commands, as processes in an empty folder.

import { languageLine } from '../../src/language/release-notes.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { csvOf, BUILT, Place } from './server.ts'

const SCRIPT = `//@version=6
strategy("Steps", default_qty_type = strategy.fixed, default_qty_value = 1)
if close > close[1]
    strategy.entry("L", strategy.long)
if close < close[1]
    strategy.close("L")
plot(ta.sma(close, 3), "Average")
`

describe.each(BUILT)('%s', (mode) => {
  describe('commands', () => {
    let place: Place
    beforeAll(() => {
      place = new Place(mode)
      writeFileSync(`${place.folder}/steps.pine`, SCRIPT)
      writeFileSync(`${place.folder}/bars.csv`, csvOf(500))
    })
    afterAll(() => place.remove())

    test('licenses prints what MIT, LGPL and the others want to go along with every copy', async () => {
      const { code, out } = await place.run('licenses')
      expect(code).toBe(0)
      for (const words of [
        'elysia',
        'Permission is hereby granted',
        'JavaScriptCore',
        'GNU LIBRARY GENERAL PUBLIC',
      ])
        expect(out).toContain(words)
    })

    test('help and version', async () => {
      expect(await place.run('--version')).toEqual({
        code: 0,
        out: `chartroom ${packageFile.version}\n${languageLine()}\n`,
        err: '',
      })
      const { code, out } = await place.run('--help')
      expect(code).toBe(0)
      const names = [...out.matchAll(/^ {2}(\w+) {2}/gm)].map(([, name]) => name ?? '')
      expect(names).toContain('serve')
      const helps = await Promise.all(names.map((name) => place.run(name, '--help')))
      expect(helps.map((help) => [help.code, /^chartroom (\w+)/.exec(help.out)?.[1]])).toEqual(
        names.map((name) => [0, name]),
      )
      expect((await place.run('nonsense')).code).toBe(2)
      expect((await place.run('backtest', '--nonsense')).code).toBe(2)
    })

    test('a backtest on a file, with its trades and plots', async () => {
      const args = ['--bars', 'bars.csv', '--trades', 'trades.csv', '--plots', 'plots.csv', '--json']
      const { code, out } = await place.run('backtest', 'steps.pine', ...args)
      expect(code).toBe(0)
      const { summary } = JSON.parse(out).report
      const [header, ...trades] = readFileSync(`${place.folder}/trades.csv`, 'utf8').trim().split('\n')
      expect(header).toStartWith('Trade number,Type,Date and time,Signal,Price ')
      expect(trades.length).toBeGreaterThanOrEqual(2 * summary.trades)
      expect(summary.trades).toBeGreaterThan(100)
      const plots = readFileSync(`${place.folder}/plots.csv`, 'utf8').trim().split('\n')
      expect(plots.slice(0, 3).map((line) => line.split(',').slice(1))).toEqual([['Average'], ['na'], ['na']])
      expect(plots).toHaveLength(501)
    })

    test('a check that fails says where, and exits with 1', async () => {
      writeFileSync(`${place.folder}/wrong.pine`, '//@version=6\nindicator("w")\nplot(clsoe)\n')
      const { code, out, err } = await place.run('check', 'steps.pine', 'wrong.pine')
      expect(code).toBe(1)
      expect(out + err).toMatch(/wrong\.pine:3:6/)
      const lines = (await place.run('check', '--jsonl', 'steps.pine', 'wrong.pine')).out.trim().split('\n')
      expect(lines.map((line) => JSON.parse(line).compiled)).toEqual([true, false])
    })

    test('bars, users and tokens, while no server runs', async () => {
      const series = ['--exchange', 'ME', '--symbol', 'T', '--interval', '1h']
      const imported = await place.run('bars', 'import', 'bars.csv', ...series)
      expect([imported.code, imported.err + imported.out]).toEqual([0, expect.stringContaining('500')])
      expect((await place.run('bars', 'list')).out).toContain('ME:T')
      const exported = await place.run('bars', 'export', ...series)
      expect(exported.out.trim().split('\n')).toHaveLength(501)
    })
  })
})
