// Runs a script over a few bars for tests: what it plots, orders and says.

import { type Bars, emptyBars } from '../../src/market/bars.ts'
import type { SymbolInfo } from '../../src/market/symbol.ts'
import type { Broker, BrokerAccount, BrokerDesk } from '../../src/language/broker.ts'
import { compile } from '../../src/language/compile.ts'
import type { RunEnvironment, ScriptRun } from '../../src/language/environment.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'

export const SYMBOL: SymbolInfo = {
  exchange: 'TEST',
  symbol: 'COIN',
  description: 'Coin',
  type: 'crypto',
  currency: 'USD',
  baseCurrency: 'COIN',
  mintick: 0.01,
  priceScale: 100,
  minMove: 1,
  pointValue: 1,
  minQuantity: 0.0001,
  timezone: 'UTC',
  session: '24x7',
  volumeType: 'base',
}

const START = Date.UTC(2024, 0, 1)

/** Bars that close at these prices, each opening where the last one closed; 15 minutes unless said otherwise. */
export function barsOf(closes: readonly number[], stepMs = 900_000): Bars {
  const bars = emptyBars(closes.length)
  for (const [i, close] of closes.entries()) {
    const open = closes[i - 1] ?? close
    bars.time[i] = START + i * stepMs
    bars.open[i] = open
    bars.close[i] = close
    bars.high[i] = Math.max(open, close) + 0.5
    bars.low[i] = Math.min(open, close) - 0.5
    bars.volume[i] = 100 + i
  }
  return bars
}

/** A random walk that is the same for the same seed. */
export function walk(length: number, seed = 1): number[] {
  let state = seed
  let price = 100
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    price = Math.max(1, price + (state / 0x7fffffff - 0.5) * 2)
    return Math.round(price * 100) / 100
  })
}

export interface Order {
  readonly method: string
  readonly args: readonly unknown[]
}

/** A broker that writes down what it is told. */
export function recordingBroker(orders: Order[] = [], more: Partial<Broker> = {}): Broker {
  const desk = new Proxy({} as BrokerDesk, {
    get:
      (_, name) =>
      (...args: unknown[]) => {
        // A request's object is the next one's, too.
        orders.push({ method: String(name), args: structuredClone(args) })
      },
  })
  const account = { bar: 0, positionSize: 0, equity: 1000 } as BrokerAccount
  return {
    bytes: 0,
    busy: false,
    callBelow: -Infinity,
    callAbove: Infinity,
    dirty: false,
    account,
    desk,
    onBar: () => undefined,
    afterScript: () => undefined,
    ...more,
  }
}

export function environment(bars: Bars, more: Partial<RunEnvironment> = {}): RunEnvironment {
  return {
    bars,
    symbol: SYMBOL,
    interval: '15m',
    inputs: {},
    broker: recordingBroker(),
    limits: DEFAULT_LIMITS,
    series: () => null,
    ...more,
  }
}

/** Instantiated, not yet run. Fails with the diagnostics of a script that does not compile. */
export function open(source: string, bars: Bars, more: Partial<RunEnvironment> = {}): ScriptRun {
  const { script, diagnostics } = compile(source)
  if (!script)
    throw new Error(
      diagnostics
        .map((one) => `${one.start}: ${one.message} (${source.slice(one.start, one.end)})`)
        .join('\n'),
    )
  return script.instantiate(environment(bars, more))
}

export function runScript(source: string, bars: Bars, more: Partial<RunEnvironment> = {}): ScriptRun {
  const run = open(source, bars, more)
  run.advance(bars.length)
  return run
}

/** Values of the n-th plot; na = NaN. */
export function plotted(run: ScriptRun, plot = 0): number[] {
  return [...(run.plots[plot]?.columns['series'] ?? [])]
}
