// The table of what TradingView changed and when, and all that is read from it.

import { describe, expect, test } from 'bun:test'
import {
  areAlike,
  argsAsOf,
  askedDay,
  changesBetween,
  DATED_CHANGES,
  datedDefaults,
  dayBefore,
  dayRefusal,
  dayText,
  dayToRepeat,
  KNOWN_FROM,
  NEWEST_DAY,
} from '../../src/language/behaviour.ts'
import { compile } from '../../src/language/compile.ts'
import { Problem } from '../../src/lib/problem.ts'
import { BUILTIN_FUNCTIONS } from '../../src/language/builtins/table.ts'

const NOW = Date.UTC(2026, 10, 27, 12)
const BEFORE = { initial_capital: 1_000_000, default_qty_type: 'fixed', default_qty_value: 1 }
const SINCE = { initial_capital: 100_000, default_qty_type: 'percent_of_equity', default_qty_value: 100 }

function declared(head: string, given = '') {
  const { script } = compile(`${head}\nstrategy("S"${given})\nplot(close)`)
  return script!.program
}

describe('the table', () => {
  test('has its days in order, and a source for each row', () => {
    const days = DATED_CHANGES.map(({ day }) => day)
    expect(days).toEqual([...new Set(days)].toSorted())
    for (const { day, sources, says } of DATED_CHANGES) {
      expect(dayRefusal(day, NOW)).toBe(null)
      expect(sources.length).toBeGreaterThan(0)
      expect(says).not.toBe('')
    }
    expect(NEWEST_DAY).toBe(days.at(-1)!)
    expect(KNOWN_FROM < days[0]!).toBe(true)
  })

  test('tells the days on both sides of a change apart', () => {
    expect(areAlike(undefined, '2026-09-23')).toBe(true)
    expect(areAlike('2026-09-24', '2026-10-01')).toBe(true)
    expect(areAlike('2026-09-23', '2026-09-24')).toBe(false)
    expect([dayToRepeat(undefined), dayToRepeat('2026-09-01')]).toEqual(['2026-09-23', '2026-09-01'])
    expect(dayText(NEWEST_DAY)).toBe('24 September 2026')
    expect(dayBefore({ ...DATED_CHANGES[0]!, day: '2026-03-01' })).toBe('2026-02-28')
  })
})

describe('the defaults of strategy()', () => {
  test.each([
    [6, '2026-09-24', SINCE],
    [6, '2026-11-27', SINCE],
    [6, '2026-09-23', BEFORE],
    [6, KNOWN_FROM, BEFORE],
    [6, undefined, BEFORE],
    [5, '2026-09-24', BEFORE],
    [1, '2026-09-24', BEFORE],
  ])('of version %p as of %p', (version, asOf, defaults) => {
    expect(datedDefaults(version, asOf)).toEqual(defaults)
  })

  test('are replaced one by one, where the script does not say', () => {
    const { declaration, version } = declared('//@version=6', ', default_qty_type = strategy.fixed')
    expect(declaration.given).toEqual(['title', 'default_qty_type'])
    expect(argsAsOf(declaration, version, NEWEST_DAY)).toMatchObject({ ...SINCE, default_qty_type: 'fixed' })
    expect(argsAsOf(declaration, version, '2026-09-01')).toMatchObject({
      ...BEFORE,
      default_qty_type: 'fixed',
    })
  })

  test('keep the order of the arguments, which a stored report has', () => {
    const { declaration, version } = declared('//@version=6')
    expect(Object.keys(argsAsOf(declaration, version, undefined))).toEqual(Object.keys(declaration.args))
  })

  test('are those of today where the compiler shows them', () => {
    expect(declared('//@version=6').declaration.args).toMatchObject(SINCE)
    expect(declared('//@version=5').declaration.args).toMatchObject(BEFORE)
    const signature = JSON.stringify(BUILTIN_FUNCTIONS.get('strategy'))
    expect(signature).toContain('percent_of_equity')
    expect(signature).toContain('100000')
  })
})

describe('what differs between two days', () => {
  const differs = (head: string, given = '', [one, other]: readonly (string | undefined)[] = []) => {
    const { declaration, version } = declared(head, given)
    return changesBetween(declaration, version, one, other ?? NEWEST_DAY).length
  }
  test('is what the script leaves open, and only in its version', () => {
    expect(differs('//@version=6')).toBe(1)
    expect(differs('//@version=6', ', initial_capital = 5')).toBe(1)
    expect(
      differs(
        '//@version=6',
        ', initial_capital = 5, default_qty_value = 1, default_qty_type = strategy.fixed',
      ),
    ).toBe(0)
    expect(differs('//@version=5')).toBe(0)
    expect(differs('//@version=6', '', ['2026-09-24', '2026-10-01'])).toBe(0)
    const indicator = compile('//@version=6\nindicator("I")\nplot(close)').script!.program
    expect(changesBetween(indicator.declaration, 6, undefined, NEWEST_DAY)).toEqual([])
  })
})

describe('the day that is asked for', () => {
  test('is the newest if none is, and never later than it', () => {
    expect(askedDay(undefined, NOW)).toBe(NEWEST_DAY)
    expect(askedDay('2026-11-01', NOW)).toBe(NEWEST_DAY)
    expect(askedDay('2026-09-24', NOW)).toBe('2026-09-24')
    expect(askedDay('2026-09-23', NOW)).toBe('2026-09-23')
    expect(askedDay(KNOWN_FROM, NOW)).toBe(KNOWN_FROM)
    // A clock that is slow does not undo what is known.
    expect(askedDay('2026-09-24', 0)).toBe(NEWEST_DAY)
    // It is tomorrow in the east already.
    expect(askedDay('2026-11-28', NOW)).toBe(NEWEST_DAY)
  })

  test.each([
    ['2024-12-09', /before 10 December 2024.*Take 2024-12-10 or a later day/],
    ['2026-11-29', /not known yet.*Take a day up to today/],
    ['9999-12-31', /not known yet/],
    ['yesterday', /It takes a day such as 2026-09-24/],
    ['2026-02-30', /It takes a day such as/],
    ['2026-9-1', /It takes a day such as/],
    ['2026-09-24T20:45', /It takes a day such as/],
    ['', /It takes a day such as/],
  ])('is refused with a remedy: %p', (day, words) => {
    expect(dayRefusal(day, NOW)).toMatch(words)
    const thrown = (() => {
      try {
        return askedDay(day, NOW)
      } catch (error) {
        return error
      }
    })() as Problem
    expect(thrown).toBeInstanceOf(Problem)
    expect(thrown.status).toBe(422)
    expect(thrown.details.fields?.[0]?.path).toBe('/asOf')
    expect(thrown.message).toMatch(words)
  })
})
