// Spreads: formulas over symbols, typed where a symbol goes. `BINANCE:BTCUSDT/BINANCE:ETHUSDT`, `2*(SP:SPX-NASDAQ:AAPL)`.
//
// + - * / and parentheses over numbers and symbols. A ticker with an operator in it stands in quotes: "COINBASE:BTC-USD". The
// bars are those that all series have, each price calculated from the same price of every series; of what comes out, the
// highest and the lowest are high and low. A bar that divides by nought is left out. A spread has no volume.

import { Problem } from '../lib/problem.ts'
import { marketName } from '../lib/market-name.ts'
import { emptyBars, sliceBars, type Bars } from './bars.ts'

/** The exchange that spreads are on; the symbol is the formula. */
export const SPREAD_EXCHANGE = 'SPREAD'

export interface SpreadPart {
  readonly exchange: string
  readonly symbol: string
}

export interface Spread {
  /** The symbols of the formula, each once, in order. */
  readonly parts: readonly SpreadPart[]
  /** Its value from one price of each part. */
  readonly value: (prices: readonly number[]) => number
}

export class SpreadError extends Error {}

type Term = (prices: readonly number[]) => number

/** The most symbols that a formula may have. */
const PARTS_MAX = 8
const TOKEN = /\s*(?:("[^"]*")|([+\-*/()])|(\d+(?:\.\d+)?)(?![\p{L}\p{N}_.!&:])|([^\s+\-*/()"]+))/uy

/** Whether a text has an operator outside of quotes, so that it means a formula rather than a symbol. */
export const isFormula = (text: string): boolean => /[+*/()-]/.test(text.replaceAll(/"[^"]*"/g, ''))

/** Reads a formula; throws a `SpreadError` that says what is wrong. */
export function parseSpread(text: string): Spread {
  return new Parser(text).spread()
}

/** Recursive descent, a method a rule. */
class Parser {
  readonly #tokens: readonly string[]
  readonly #parts: SpreadPart[] = []
  #at = 0

  constructor(text: string) {
    this.#tokens = tokensOf(text)
  }

  spread(): Spread {
    const value = this.#sum()
    const rest = this.#tokens[this.#at]
    if (rest !== undefined) throw new SpreadError(`“${rest}” stands where an operator (+ - * /) should.`)
    if (this.#parts.length === 0) throw new SpreadError('The formula has no symbol in it.')
    if (this.#parts.length > PARTS_MAX)
      throw new SpreadError(`A formula can have at most ${PARTS_MAX} symbols.`)
    return { parts: this.#parts, value }
  }

  /** sum = product { ("+" | "-") product } */
  #sum(): Term {
    let left = this.#product()
    for (;;) {
      const before = left
      if (this.#take('+')) {
        const right = this.#product()
        left = (prices) => before(prices) + right(prices)
      } else if (this.#take('-')) {
        const right = this.#product()
        left = (prices) => before(prices) - right(prices)
      } else return left
    }
  }

  /** product = factor { ("*" | "/") factor } */
  #product(): Term {
    let left = this.#factor()
    for (;;) {
      const before = left
      if (this.#take('*')) {
        const right = this.#factor()
        left = (prices) => before(prices) * right(prices)
      } else if (this.#take('/')) {
        const right = this.#factor()
        left = (prices) => before(prices) / right(prices)
      } else return left
    }
  }

  /** factor = "-" factor | "(" sum ")" | number | symbol */
  #factor(): Term {
    if (this.#take('-')) {
      const of = this.#factor()
      return (prices) => -of(prices)
    }
    if (this.#take('(')) {
      const inner = this.#sum()
      if (!this.#take(')')) throw new SpreadError('A bracket is opened and not closed.')
      return inner
    }
    const token = this.#tokens[this.#at++]
    if (token === undefined)
      throw new SpreadError('The formula ends where a symbol or a number should stand.')
    if (/^[+*/)]$/.test(token)) throw new SpreadError(`“${token}” stands where a symbol or a number should.`)
    if (/^\d+(?:\.\d+)?$/.test(token)) {
      const number = Number(token)
      return () => number
    }
    return this.#symbol(token.replaceAll('"', ''))
  }

  #symbol(text: string): Term {
    const [exchange = '', ...rest] = text.split(':')
    const symbol = rest.join(':')
    if (exchange === '' || symbol === '')
      throw new SpreadError(`Write the exchange before “${text}”, as BINANCE:BTCUSDT.`)
    const part = { exchange: marketName(exchange), symbol: marketName(symbol) }
    const known = this.#parts.findIndex((one) => one.exchange === part.exchange && one.symbol === part.symbol)
    const index = known < 0 ? this.#parts.push(part) - 1 : known
    return (prices) => prices[index]!
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false
    this.#at++
    return true
  }
}

function tokensOf(text: string): readonly string[] {
  const tokens: string[] = []
  const all = text.trim()
  TOKEN.lastIndex = 0
  for (let at = 0; at < all.length; at = TOKEN.lastIndex) {
    const found = TOKEN.exec(all)
    if (!found) throw new SpreadError('A quote is opened and not closed.')
    tokens.push(found[1] ?? found[2] ?? found[3] ?? found[4] ?? '')
  }
  return tokens
}

/** The spread that a series' name means; null if it means none. A formula that is none is the caller's mistake. */
export function spreadOf({ exchange, symbol }: SpreadPart): Spread | null {
  if (exchange !== SPREAD_EXCHANGE) return null
  try {
    return parseSpread(symbol)
  } catch (error) {
    if (error instanceof SpreadError)
      throw new Problem(404, 'bars_not_found', `${symbol} is no formula of symbols: ${error.message}`)
    throw error
  }
}

const PRICES = ['open', 'high', 'low', 'close'] as const

/**
 * The spread's bars, from those of its parts in their order, of which there is at least one. They are in shared memory, so
 * that workers read them without a copy.
 */
export function spreadBars({ value }: Spread, parts: readonly Bars[]): Bars {
  const made = emptyBars(Math.min(...parts.map(({ length }) => length)), { shared: true })
  const at = parts.map(() => 0)
  const prices = parts.map(() => 0)
  let size = 0
  const first = parts[0]!
  for (let i = 0; i < first.length; i++) {
    const time = first.time[i]!
    if (!advance(parts, at, time)) continue
    const values = PRICES.map((field) => {
      for (let p = 0; p < parts.length; p++) prices[p] = parts[p]![field][at[p]!]!
      return value(prices)
    })
    if (!values.every(Number.isFinite)) continue
    made.time[size] = time
    made.open[size] = values[0]!
    made.high[size] = Math.max(...values)
    made.low[size] = Math.min(...values)
    made.close[size] = values[3]!
    size++
  }
  return sliceBars(made, 0, size)
}

/** Moves every part on to the bar of a time; whether all of them have one. */
function advance(parts: readonly Bars[], at: number[], time: number): boolean {
  let all = true
  for (const [p, { time: times, length }] of parts.entries()) {
    while (at[p]! < length && times[at[p]!]! < time) at[p]!++
    if (times[at[p]!] !== time || at[p]! >= length) all = false
  }
  return all
}
