// Which settings were likely different, judged by how the lists differ. The likeliest come first: what the export itself
// tells (a commission follows from prices, quantity and profit), then switches, then guesses.

import { DATED_CHANGES, dayBefore, dayText, isInForce } from '../../language/behaviour.ts'
import { lowerBound, type Bars } from '../../market/bars.ts'
import { parseInterval, isIntraday } from '../../market/interval.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import { zoneOf } from '../../market/zone.ts'
import type { Report } from '../../wire/report.ts'
import type { Pair } from '../compare.ts'
import type { ExportedTrade } from '../exported/trade-list.ts'
import type { ExplainedChange, Room } from './change.ts'
import { words } from '../../lib/words.ts'

export interface Facts {
  readonly expected: readonly ExportedTrade[]
  readonly pairs: readonly Pair[]
  /** The report of the run to be changed. */
  readonly report: Report
  readonly symbol: SymbolInfo
  /** The zone of the export's times. */
  readonly timezone: string
  readonly room: Room
  /** All that the run can have, earlier ones too. */
  readonly bars: Bars
}

type Both = readonly [ExportedTrade, Report['trades'][number]]

/**
 * Two amounts count as equal below this relative difference, which is more than rounding causes and less than any user
 * would set.
 */
const CLOSE = 0.003

export function likelyChanges(facts: Facts): readonly ExplainedChange[] {
  const both = facts.pairs.filter((pair): pair is Both => pair[0] !== undefined && pair[1] !== undefined)
  const qtyDiffers = both.some(([want, got]) => want.qty !== null && !near(want.qty, got.qty, 1e-6))
  return [
    ...days(facts),
    ...beginnings(facts),
    ...slippages(facts, both),
    ...(qtyDiffers ? [...quantities(facts, both), ...lots(facts, both), ...capitals(facts, both)] : []),
    ...commissions(facts),
    ...pointValues(facts),
    ...tickSizes(facts),
    ...switches(facts),
    ...pyramidings(facts),
    ...fillLimits(facts),
    ...margins(facts),
    ...histories(facts),
    ...(qtyDiffers ? shares(facts, both) : capitals(facts, both)),
    ...sessions(facts),
    ...currencies(facts, both),
    ...versions(facts),
  ].flatMap((one) => {
    if (!one.overrides) return [one]
    const overrides = Object.entries(one.overrides).filter(
      ([name, value]) => word(facts.report, name) !== String(value),
    )
    return overrides.length === 0 ? [] : [{ ...one, overrides: Object.fromEntries(overrides) }]
  })
}

// ——— when it was made ———

/** TradingView on the other side of each of its changes: an export tells no day. */
function days({ report }: Facts): ExplainedChange[] {
  const { asOf, script } = report
  return DATED_CHANGES.filter(
    ({ version }) => script.kind === 'strategy' && script.pineVersion >= version,
  ).map((one) => {
    const day = dayText(one.day)
    return isInForce(one, asOf)
      ? { kind: 'as_of', message: `TradingView as it was before ${day}`, asOf: dayBefore(one) }
      : { kind: 'as_of', message: `TradingView as it is since ${day}`, asOf: one.day }
  })
}

/** The same text with another version line, as scripts are copied. */
function versions({ report }: Facts): ExplainedChange[] {
  return [6, 5, 4]
    .filter((version) => version !== report.script.pineVersion)
    .map((pine) => ({ kind: 'script_version', message: `The script ran as one of version ${pine}`, pine }))
}

// ——— what the export tells ———

function slippages({ report, symbol }: Facts, both: readonly Both[]): ExplainedChange[] {
  const now = setting(report, 'slippage', 0)
  const ticks = both.flatMap(([want, got]) => {
    const side = want.side === 'long' ? 1 : -1
    return [
      (side * (want.entry.price - got.entryPrice)) / symbol.mintick,
      (side * (got.exitPrice - want.exit.price)) / symbol.mintick,
    ].map(Math.round)
  })
  return mostOften(ticks.filter((one) => one !== 0))
    .slice(0, 2)
    .map((more) => now + more)
    .filter((value) => value >= 0 && value <= 100_000)
    .map((value) => change('slippage', `Slippage ${value} ticks`, { slippage: value }))
}

function quantities({ report, symbol }: Facts, both: readonly Both[]): ExplainedChange[] {
  const first = both[0]
  const wanted = both.flatMap(([{ qty }]) => (qty === null ? [] : [qty]))
  if (!first || wanted.length === 0) return []
  // Parts of a position are closed too, so single sizes mislead.
  const [fixed = 1] = mostOften(wanted)
  const found: ExplainedChange[] = []
  const add = (type: string, value: number, says: string) => {
    found.push(
      change('default_qty', `Order size ${says}`, { default_qty_type: type, default_qty_value: value }),
    )
  }
  if (wanted.filter((qty) => qty === fixed).length > wanted.length / 3)
    add('fixed', fixed, `${fixed} contracts`)
  const values = both.map(([{ qty, entry }]) => (qty ?? 0) * entry.price * symbol.pointValue)
  const cash = middle(values)
  if (values.filter((value) => near(value, cash, 0.05)).length > values.length / 3)
    add('cash', nice(cash, 2), `${nice(cash, 2)} in cash`)
  const spent = roundest(rangeOf(both, symbol, () => 1))
  if (spent !== null) add('cash', spent, `${spent} in cash`)
  const capital = setting(report, 'initial_capital', 1_000_000)
  for (const percent of new Set([shareOf(values[0] ?? 0, capital), shareOfAll(both, symbol, capital)]))
    if (percent !== null) add('percent_of_equity', percent, `${percent}% of equity`)
  return found
}

/** The possible share over all trades, for sizes rounded to contracts so large that one trade does not tell it. */
function shareOfAll(both: readonly Both[], symbol: SymbolInfo, capital: number): number | null {
  let equity = capital
  let next = 0
  const closed = both.map(([want]) => want).toSorted((a, b) => a.exit.wall - b.exit.wall)
  const equities = new Map<ExportedTrade, number>()
  for (const [want] of both.toSorted((a, b) => a[0].entry.wall - b[0].entry.wall)) {
    for (; next < closed.length && closed[next]!.exit.wall <= want.entry.wall; next++)
      equity += closed[next]!.profit?.value ?? 0
    equities.set(want, equity)
  }
  return roundest(rangeOf(both, symbol, (want) => (equities.get(want) ?? capital) / 100))
}

/**
 * The bounds of an order's size in units: at least what was bought, and less than one contract more. A few trades may
 * contradict them, since an order is sized at the close before its fill.
 */
function rangeOf(
  both: readonly Both[],
  { pointValue, minQuantity }: SymbolInfo,
  unitAt: (want: ExportedTrade) => number,
): readonly [number, number] {
  const sized = both.filter(([{ qty }]) => qty !== null && qty > 0)
  const bounds = (more: number) =>
    sized
      .map(([want]) => (((want.qty ?? 0) + more) * want.entry.price * pointValue) / unitAt(want))
      .toSorted((a, b) => a - b)
  const few = Math.floor(sized.length / 20)
  return [bounds(0).at(-1 - few) ?? NaN, bounds(minQuantity)[few] ?? NaN]
}

/** The number with the fewest digits between two; null if there is none. */
function roundest([least, most]: readonly [number, number]): number | null {
  if (!(least > 0 && least <= most && most < 1e12)) return null
  for (let step = 10 ** Math.floor(Math.log10(most)), digits = 1; digits <= 4; step /= 10, digits++) {
    const value = nice(Math.ceil(least / step) * step, digits)
    if (value >= least && value <= most) return value
  }
  return null
}

/** Orders that are a share of another capital. */
function shares({ report, symbol }: Facts, both: readonly Both[]): ExplainedChange[] {
  const [first] = both
  const value = first ? (first[0].qty ?? 0) * first[0].entry.price * symbol.pointValue : 0
  return CAPITALS.flatMap((capital) => {
    if (capital === setting(report, 'initial_capital', 1_000_000)) return []
    const percents = new Set([shareOf(value, capital), shareOfAll(both, symbol, capital)])
    return [...percents].flatMap((percent) =>
      percent === null
        ? []
        : [
            change('default_qty', `Order size ${percent}% of equity, initial capital ${capital}`, {
              default_qty_type: 'percent_of_equity',
              default_qty_value: percent,
              initial_capital: capital,
            }),
          ],
    )
  })
}

/** A whole percentage, as people set it; null if it is not whole. */
function shareOf(value: number, capital: number): number | null {
  const exact = (100 * value) / capital
  const percent = Math.round(exact)
  return percent >= 1 && percent <= 1000 && near(exact, percent, 0.03) ? percent : null
}

const CAPITALS = [1000, 10_000, 100_000, 1_000_000, 100, 5000, 50_000, 25_000, 10_000_000]

function capitals({ report, symbol }: Facts, both: readonly Both[]): ExplainedChange[] {
  const now = setting(report, 'initial_capital', 1_000_000)
  const sized = both.find(([want]) => want.qty !== null)
  // The first trade is sized by the capital alone.
  const scaled = sized && sized[1].qty > 0 ? (now * (sized[0].qty ?? 0)) / sized[1].qty : now
  const guesses = [nice(scaled, 1), nice(scaled, 2), ...CAPITALS]
  const percent = setting(report, 'default_qty_value', 1)
  if (sized && word(report, 'default_qty_type') === 'percent_of_equity' && percent > 0)
    guesses.unshift(nice((100 * (sized[0].qty ?? 0) * sized[0].entry.price * symbol.pointValue) / percent, 1))
  return [...new Set(guesses)]
    .filter((value) => value > 0 && Number.isFinite(value) && value !== now)
    .slice(0, 9)
    .map((value) => change('initial_capital', `Initial capital ${value}`, { initial_capital: value }))
}

/** A trade's fees are the result of its prices and quantity minus its profit. */
function commissions({ expected, report, symbol }: Facts): ExplainedChange[] {
  const paid = expected.flatMap(({ qty, profit, entry, exit, side }) => {
    if (qty === null || profit === null || qty === 0) return []
    const gross = (side === 'long' ? 1 : -1) * (exit.price - entry.price) * qty * symbol.pointValue
    const turnover = (entry.price + exit.price) * qty * symbol.pointValue
    return [{ fee: gross - profit.value, qty, turnover, slack: 0.51 * 10 ** -profit.digits }]
  })
  if (paid.length === 0) return []
  const now = setting(report, 'commission_value', 0)
  if (paid.every(({ fee, slack }) => Math.abs(fee) <= slack))
    return now === 0 ? [] : [change('commission', 'No commission', { commission_value: 0 })]
  const kinds = [
    ['percent', ({ turnover }: (typeof paid)[number]) => turnover / 100, '%'],
    ['cash_per_contract', ({ qty }: (typeof paid)[number]) => 2 * qty, 'a contract'],
    ['cash_per_order', () => 2, 'an order'],
  ] as const
  const ranked = kinds.flatMap(([type, unit, says]) => {
    const rates = paid.map((one) => one.fee / unit(one))
    // Orders that close several trades share a fee, so the median is not what most pay.
    const usual = mostOften(rates.map((one) => nice(one, 3))).slice(0, 5)
    // Prefers the fewest digits that explain as many trades as the unrounded figure.
    const explained = (value: number) =>
      paid.filter((one) => Math.abs(one.fee - value * unit(one)) <= one.slack + 1e-6 * Math.abs(one.fee))
        .length
    const guesses = [middle(rates), ...usual].flatMap((rate) =>
      [1, 2, 3, 4].map((digits) => nice(rate, digits)),
    )
    // As many may share a fee as bear one alone, so the second guess counts too.
    return [...new Set(guesses)]
      .toSorted((a, b) => explained(b) - explained(a))
      .slice(0, 2)
      .map((value) => ({ type, says, value, explained: explained(value) }))
  })
  // An order that reverses closes one trade and opens another, and each bears half of its fee.
  const halves = ranked.filter(({ type }) => type === 'cash_per_order')
  return [
    ...ranked.toSorted((a, b) => b.explained - a.explained),
    ...halves.map((one) => ({ ...one, value: 2 * one.value })),
  ]
    .filter(({ value }) => value > 0 && value <= 1e9)
    .map(({ type, says, value }) =>
      change('commission', `Commission ${value} ${says}`, { commission_type: type, commission_value: value }),
    )
}

function pointValues({ expected, symbol }: Facts): ExplainedChange[] {
  const ratios = expected.flatMap(({ qty, profit, entry, exit, side }) => {
    const points = (side === 'long' ? 1 : -1) * (exit.price - entry.price) * (qty ?? 0)
    return profit && Math.abs(profit.value) > 20 * 10 ** -profit.digits && points !== 0
      ? [profit.value / points]
      : []
  })
  const value = nice(middle(ratios), 3)
  const isOne =
    ratios.length > 0 && ratios.filter((one) => near(one, value, 0.02)).length > 0.9 * ratios.length
  if (!isOne || !(value > 0) || near(value, symbol.pointValue, 0.02)) return []
  return [
    {
      kind: 'point_value',
      message: `A point of the symbol is worth ${value}`,
      symbol: { pointValue: value },
    },
  ]
}

function tickSizes({ expected, symbol }: Facts): ExplainedChange[] {
  const digits = mostDecimals(expected.flatMap(({ entry, exit }) => [entry.price, exit.price]))
  const scale = 10 ** Math.min(digits, 10)
  const mintick = 1 / scale
  if (near(mintick, symbol.mintick, 1e-9)) return []
  const facts = { mintick, priceScale: scale, minMove: 1 }
  return [{ kind: 'tick_size', message: `The symbol moves in steps of ${mintick}`, symbol: facts }]
}

function lots({ symbol }: Facts, both: readonly Both[]): ExplainedChange[] {
  // If all have the same size, nothing can be inferred about the steps.
  if (new Set(both.map(([{ qty }]) => qty)).size < 2) return []
  const digits = mostDecimals(both.map(([{ qty }]) => qty ?? 0))
  const lot = 1 / 10 ** Math.min(digits, 8)
  if (near(lot, symbol.minQuantity, 1e-9)) return []
  return [
    { kind: 'smallest_quantity', message: `The smallest quantity is ${lot}`, symbol: { minQuantity: lot } },
  ]
}

// ——— switches and guesses ———

function switches({ report, room }: Facts): ExplainedChange[] {
  const flip = (kind: ExplainedChange['kind'], name: string, says: string): ExplainedChange => {
    const on = report.script.declaration[name] !== true
    return change(kind, `${says} ${on ? 'on' : 'off'}`, { [name]: on })
  }
  const isAny = word(report, 'close_entries_rule').toUpperCase() === 'ANY'
  return [
    flip('process_orders_on_close', 'process_orders_on_close', 'Fill orders on bar close'),
    ...(room.finer || report.script.declaration['use_bar_magnifier'] === true
      ? [flip('bar_magnifier', 'use_bar_magnifier', 'Bar magnifier')]
      : []),
    flip('calc_on_order_fills', 'calc_on_order_fills', 'Recalculate after order fills'),
    flip('calc_on_every_history_tick', 'calc_on_every_history_tick', 'Recalculate on history bar ticks'),
    change('close_entries_rule', `Close entries ${isAny ? 'first in, first out' : 'in any order'}`, {
      close_entries_rule: isAny ? 'FIFO' : 'ANY',
    }),
  ]
}

function pyramidings({ expected, report }: Facts): ExplainedChange[] {
  const now = setting(report, 'pyramiding', 0)
  return [...new Set([mostAtOnce(expected), 1, 2, 3, 5, 10, 100])]
    .filter((value) => value > 0 && value !== Math.max(1, now))
    .map((value) => change('pyramiding', `Pyramiding ${value} orders`, { pyramiding: value }))
}

/** The most entries that were open at the same time. */
function mostAtOnce(expected: readonly ExportedTrade[]): number {
  const steps = expected.flatMap(({ entry, exit }) => [[entry.wall, 1] as const, [exit.wall, -1] as const])
  let open = 0
  let most = 0
  for (const [, step] of steps.sort((a, b) => a[0] - b[0] || a[1] - b[1]))
    most = Math.max(most, (open += step))
  return most
}

function fillLimits({ report }: Facts): ExplainedChange[] {
  const now = setting(report, 'backtest_fill_limits_assumption', 0)
  return [0, 1, 2, 3, 5, 10]
    .filter((value) => value !== now)
    .map((value) =>
      change('fill_limits', `Limits fill ${value} ticks beyond their price`, {
        backtest_fill_limits_assumption: value,
      }),
    )
}

function margins({ report }: Facts): ExplainedChange[] {
  const unstated = report.script.pineVersion >= 6 ? 100 : 0
  const now = setting(report, 'margin_long', unstated)
  return [0, 100, 50, 20, 10, 25, 5]
    .filter((value) => value !== now)
    .map((value) =>
      change('margin', `Margin ${value}%, long and short`, { margin_long: value, margin_short: value }),
    )
}

/** How many bars TradingView loads, by plan. */
const LOADED = [20_000, 10_000, 5000, 25_000, 40_000]

function histories({ report, room }: Facts): ExplainedChange[] {
  const now = report.range.bars
  const all = room.earlier?.length ?? now
  const changes =
    all > now ? [history('more_history', all, `All ${all} bars, ${all - now} more than it ran on`)] : []
  for (const bars of LOADED)
    if (bars < all && bars !== now)
      changes.push(history(bars < now ? 'less_history' : 'more_history', bars, `The last ${bars} bars`))
  return changes
}

/**
 * Averages remember where they began, so a run on more bars than the export's chart had trades otherwise for a while. The chart
 * began before the export's first trade: with its day, its month or its year, as people choose ranges.
 */
function beginnings({ expected, report, symbol, timezone, bars }: Facts): ExplainedChange[] {
  const [zone, exchange] = [zoneOf(timezone), zoneOf(symbol.timezone)]
  const first =
    zone && expected.reduce((least, { entry }) => Math.min(least, zone.toUtc(entry.wall)), Infinity)
  const trade = report.trades[0]
  if (!exchange || first === null || !trade || !(trade.entryTime < first)) return []
  const local = new Date(first + exchange.offsetAt(first))
  const [year, month] = [local.getUTCFullYear(), local.getUTCMonth()]
  const starts = [Date.UTC(year, month, local.getUTCDate()), Date.UTC(year, month), Date.UTC(year, 0)]
  return [...new Set(starts)].flatMap((start) => {
    const kept = bars.length - lowerBound(bars.time, exchange.toUtc(start))
    const day = new Date(start).toISOString().slice(0, 10)
    return kept > 0 && kept < report.range.bars
      ? [history('less_history', kept, `The ${kept} bars from ${day} on, where the export begins`)]
      : []
  })
}

function history(kind: 'more_history' | 'less_history', bars: number, message: string): ExplainedChange {
  return { kind, message, bars }
}

const EXCHANGE_ZONES = words(
  'America/New_York UTC America/Chicago Europe/London Europe/Berlin Asia/Tokyo Asia/Hong_Kong',
  'Asia/Kolkata Australia/Sydney',
)

function sessions({ symbol, timezone, report }: Facts): ExplainedChange[] {
  const interval = parseInterval(report.interval)
  if (!interval || !isIntraday(interval)) return []
  const zones = [timezone, ...EXCHANGE_ZONES].filter((zone) => zone !== symbol.timezone)
  const hours = symbol.session === '24x7' ? ['0930-1600'] : ['24x7', '0930-1600', '0400-2000']
  return [
    ...[...new Set(zones)].map((zone) => session(`The exchange's time zone is ${zone}`, { timezone: zone })),
    ...hours
      .filter((one) => one !== symbol.session)
      .map((one) => session(`The symbol trades ${one}, ${symbol.timezone}`, { session: one })),
    session('The symbol trades 0930-1600, America/New_York', {
      session: '0930-1600',
      timezone: 'America/New_York',
    }),
  ]
}

function session(message: string, facts: NonNullable<ExplainedChange['symbol']>): ExplainedChange {
  return { kind: 'session', message, symbol: facts }
}

function currencies({ report, symbol }: Facts, both: readonly Both[]): ExplainedChange[] {
  const isOther = both.some(
    ([{ qty, profit, entry, exit }, got]) =>
      near(entry.price, got.entryPrice, 1e-6) &&
      near(exit.price, got.exitPrice, 1e-6) &&
      (!near(qty ?? got.qty, got.qty, 0.001) ||
        (profit !== null && Math.abs(profit.value - got.profit) > 2 * 10 ** -profit.digits)),
  )
  if (!isOther) return []
  return [...new Set([symbol.currency, 'USD', 'EUR', 'USDT', 'GBP'])]
    .filter((currency) => currency !== report.currency)
    .map((currency) => change('currency', `Base currency ${currency}`, { currency }))
}

// ——— numbers ———

function change(
  kind: ExplainedChange['kind'],
  message: string,
  overrides: NonNullable<ExplainedChange['overrides']>,
): ExplainedChange {
  return { kind, message, overrides }
}

function setting({ script }: Report, name: string, unstated: number): number {
  const value = script.declaration[name]
  return typeof value === 'number' ? value : unstated
}

function word({ script }: Report, name: string): string {
  return String(script.declaration[name] ?? '').replace(/^strategy\./, '')
}

function near(a: number, b: number, part = CLOSE): boolean {
  return Math.abs(a - b) <= part * Math.max(Math.abs(a), Math.abs(b))
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 0
}

/** Rounds to significant digits: 0.0997 becomes 0.1. */
function nice(value: number, digits: number): number {
  return Number(value.toPrecision(digits))
}

/** As arguments of one call a million values would not fit. */
function mostDecimals(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, decimals(value)), 0)
}

function decimals(value: number): number {
  return /\.(\d+)$/.exec(value.toFixed(10).replace(/0+$/, ''))?.[1]?.length ?? 0
}

function mostOften(values: readonly number[]): number[] {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1]).map(([value]) => value)
}
