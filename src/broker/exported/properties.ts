// The sheet "Properties" of an export: what of a run it sets.
//
// Its rows are a name and a value: range and symbol, then the script's inputs by their titles, then the properties of the
// strategy. A script may title an input as a property is called. The first row of such a name is then the symbol's, the
// last one the strategy's, and what stands between them is the input.

import { formatInterval, normalizeInterval, parseInterval, toTimeframe } from '../../market/interval.ts'
import type { ExportSettings } from '../../wire/export.ts'
import { settingRefusal } from '../setting-values.ts'
import { numberOf, wallOf } from './trade-list.ts'
import { words } from '../../lib/words.ts'
import { propertyOf, spelled, type Property } from './words.ts'

/** What the sheet says, before it is held against a run. */
export type Settings = Omit<ExportSettings, 'bars' | 'differs'>

type Value = number | string | boolean
interface Found {
  exchange: string | null
  symbol: string | null
  interval: string | null
  ranges: { [kind in 'tradingRange' | 'dataRange']?: { from: string; to: string } }
  readonly inputs: Record<string, unknown>
  readonly overrides: Record<string, Value>
  readonly facts: Record<string, number>
  readonly unknown: string[]
}

/** Properties of the strategy stand last, everything else that is not an input first. */
const LAST: readonly Property[] = words(
  'initial_capital currency orderSize pyramiding commission backtest_fill_limits_assumption slippage',
  'margin_long margin_short leverageLong leverageShort flags calc_on_order_fills calc_on_every_tick',
  'process_orders_on_close use_bar_magnifier fill_orders_on_standard_ohlc',
)

/** `inputs`: those of the script with values of their kind, such as its defaults. */
export function settingsIn(
  rows: readonly (readonly string[])[],
  inputs: Readonly<Record<string, unknown>>,
): Settings {
  const found: Found = {
    exchange: null,
    symbol: null,
    interval: null,
    ranges: {},
    inputs: {},
    overrides: {},
    facts: {},
    unknown: [],
  }
  const named = rows.flatMap(([name = '', value = '']) =>
    name.trim() === '' ? [] : [{ name: name.trim(), value }],
  )
  const isMeant = (at: number, property: Property) => {
    const same = named.flatMap(({ name }, i) => (spelled(name) === spelled(named[at]!.name) ? [i] : []))
    return at === (LAST.includes(property) ? same.at(-1) : same[0])
  }
  const seen = new Map<string, number>()
  for (const [at, { name, value }] of named.entries()) {
    const property = propertyOf(name)
    if (property === 'section' && value === '') continue
    if (property === 'heading' && at === 0) continue
    if (property !== null && isMeant(at, property)) {
      setProperty(found, property, name, value.trim())
      continue
    }
    const times = (seen.get(name) ?? 0) + 1
    seen.set(name, times)
    setInput(found, inputs, times > 1 ? `${name} (${times})` : name, value)
  }
  const { ranges, ...rest } = found
  return { ...rest, range: ranges.dataRange ?? ranges.tradingRange ?? null }
}

function setProperty(found: Found, property: Property, name: string, value: string): void {
  const reason = (SETTERS[property] ?? plainSetter)(found, value, property)
  if (reason !== null) found.unknown.push(`"${name}: ${value.slice(0, 80)}": ${reason}.`)
}

/** Answers why the value cannot be set; null if it is set. */
type Setter = (found: Found, value: string, property: Property) => string | null

const SETTERS: Readonly<Partial<Record<Property, Setter>>> = {
  heading: () => null,
  section: () => null,
  fact: () => null,
  tradingRange: setRange,
  dataRange: setRange,
  symbol(found, value) {
    const colon = value.indexOf(':')
    if (colon < 1 || colon === value.length - 1) return 'this is no symbol with its exchange'
    found.exchange = value.slice(0, colon)
    found.symbol = value.slice(colon + 1)
    return null
  },
  interval(found, value) {
    found.interval = intervalIn(value)
    return found.interval === null ? 'this is no interval that is known' : null
  },
  mintick: setFact,
  pointvalue: setFact,
  currency(found, value) {
    if (spelled(value) === 'default') return null
    if (!/^\p{Lu}{3,10}$/u.test(value)) return 'this is no currency'
    found.overrides['currency'] = value
    return null
  },
  orderSize(found, value) {
    const { number, unit } = measured(value)
    const type = Number.isNaN(number) ? null : sizeTypeOf(unit)
    if (type === null) return 'its unit is not known'
    found.overrides['default_qty_type'] = type
    found.overrides['default_qty_value'] = number
    return null
  },
  commission(found, value) {
    const { number, unit } = measured(value)
    const type = commissionTypeOf(unit)
    if (Number.isNaN(number) || (type === null && number !== 0)) return 'its unit is not known'
    if (type !== null) found.overrides['commission_type'] = type
    found.overrides['commission_value'] = number
    return null
  },
  leverageLong: (found, value) => setLeverage(found, value, 'margin_long'),
  leverageShort: (found, value) => setLeverage(found, value, 'margin_short'),
  flags(found, value) {
    for (const part of value.split(',')) {
      const [name = '', state = ''] = part.split(':')
      const property = propertyOf(name)
      const reason = property === null ? 'this is not known' : plainSetter(found, state.trim(), property)
      if (reason !== null) return reason
    }
    return null
  },
}

function plainSetter(found: Found, value: string, property: Property): string | null {
  const isFlag = switched(value)
  const set = isFlag ?? amount(value)
  const takes = settingRefusal(property, set)
  if (takes !== null) return `it ${takes}`
  found.overrides[property] = set
  return null
}

function setFact(found: Found, value: string, property: Property): string | null {
  const number = amount(value)
  if (!(number > 0)) return 'this is no number above 0'
  found.facts[property] = number
  return null
}

function setRange(found: Found, value: string, property: Property): string | null {
  const [from, to] = value.split(/\s+[—–-]\s+/).map((text) => wallOf(text))
  if (!from || !to) return 'this is no range of two dates'
  // A day without a time is the range's with all of it.
  const end = to.dateOnly ? to.wall + 86_399_000 : to.wall
  found.ranges[property as 'tradingRange'] = { from: wallText(from.wall), to: wallText(end) }
  return null
}

export const wallText = (wall: number): string => new Date(wall).toISOString().slice(0, 16).replace('T', ' ')

function setLeverage(found: Found, value: string, margin: 'margin_long' | 'margin_short'): string | null {
  const number = Number(/^(\d+(?:\.\d+)?)\s*[x×]?$/i.exec(value)?.[1])
  if (!(number > 0)) return 'this is no leverage such as 5x'
  found.overrides[margin] = 100 / number
  return null
}

function switched(value: string): boolean | null {
  const word = spelled(value)
  if (word === 'on' || word === 'true') return true
  return word === 'off' || word === 'false' ? false : null
}

/** `1,000.5`, `0 ticks`, `100 %`; NaN if it begins with no number as these sheets write them. */
export function amount(text: string): number {
  const match = /^\s*([-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?![\d.,])/.exec(text)
  return match ? numberOf(match[1]!, '.') : NaN
}

/** `1 Contracts` is 1 and `contracts`, `100% of equity` 100 and `% of equity`. */
function measured(value: string): { readonly number: number; readonly unit: string } {
  return { number: amount(value), unit: value.replace(/^[-+−]?[\d.,]+/, '').trim() }
}

function sizeTypeOf(unit: string): string | null {
  if (/^%(\s*of equity)?$/i.test(unit)) return 'percent_of_equity'
  if (unit === '' || /^(contract|share|unit|lot)s?$|^(contract|share)\(s\)$/i.test(unit)) return 'fixed'
  return /^\p{Lu}{3,10}$/u.test(unit) ? 'cash' : null
}

function commissionTypeOf(unit: string): string | null {
  if (unit === '%') return 'percent'
  if (/(per|\/)\s*contract$/i.test(unit)) return 'cash_per_contract'
  return /(per|\/)\s*order$/i.test(unit) ? 'cash_per_order' : null
}

const UNITS: Readonly<Record<string, string>> = {
  second: 's',
  minute: 'm',
  min: 'm',
  hour: 'h',
  day: 'd',
  week: 'w',
  month: 'M',
}

/** `15 minutes`, `1 day`, `4h`, `240`, `1D`; null if it is none. */
function intervalIn(text: string): string | null {
  const words = /^(\d+)\s*(second|minute|min|hour|day|week|month)s?$/i.exec(text)
  const interval = words ? parseInterval(`${words[1]}${UNITS[words[2]!.toLowerCase()]}`) : null
  return interval ? formatInterval(interval) : normalizeInterval(text)
}

const SOURCES: readonly string[] = ['open', 'high', 'low', 'close', 'hl2', 'hlc3', 'ohlc4', 'hlcc4', 'volume']

function setInput(
  found: Found,
  inputs: Readonly<Record<string, unknown>>,
  label: string,
  value: string,
): void {
  const cannot = (why: string) => found.unknown.push(`"${label}: ${value.slice(0, 80)}": ${why}.`)
  if (!Object.hasOwn(inputs, label)) {
    cannot('neither a property that is known nor an input of the script')
    return
  }
  const set = inputValue(inputs[label], value)
  if (set === null) cannot('the input takes no such value')
  else found.inputs[label] = set
}

/** The text as a value of the kind that the input has now; null if it is none, or if its zone is not known. */
function inputValue(now: unknown, text: string): Value | null {
  if (typeof now === 'boolean') return switched(text)
  if (typeof now === 'number') {
    // A time has a zone, which no export names.
    const number = /^\s*[-+−]?[\d.,]+\s*%?\s*$/.test(text) ? amount(text) : NaN
    return Number.isNaN(number) ? null : number
  }
  if (typeof now !== 'string') return null
  const word = spelled(text)
  if (SOURCES.includes(now)) return SOURCES.includes(word) ? word : null
  if (/^#[0-9a-f]{8}$/i.test(now)) return /^#[0-9a-f]{6}([0-9a-f]{2})?$/i.test(text) ? text : null
  if (/^(\d+[SDWM]?|[DWM]|)$/.test(now)) {
    const words = /^\d+ (second|minute|hour|day|week|month)s?$/i.test(text) ? intervalIn(text) : null
    const interval = words === null ? null : parseInterval(words)
    if (interval) return toTimeframe(interval)
    if (now === '' && word === 'chart') return ''
  }
  return text
}
