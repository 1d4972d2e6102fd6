// Markets that are made of others, as the page knows them: formulas, and continuous futures. The server makes their bars.

import { continuousName, contractOf, contractsOf } from '../../market/continuous.ts'
import { parseSpread, SPREAD_EXCHANGE } from '../../market/spread.ts'
import type { SymbolFacts } from '../../wire/bars.ts'
import { nameOf, type Named } from '../format.ts'

/** What is known of a symbol, or of what it is made of; null = nothing. */
export function factsOf(all: readonly SymbolFacts[], market: Named): SymbolFacts | null {
  const { exchange, symbol } = market
  const known = all.find((one) => one.exchange === exchange && one.symbol === symbol)
  if (known) return known
  return exchange === SPREAD_EXCHANGE ? spreadFacts(all, symbol) : continuousFacts(all, market)
}

function spreadFacts(all: readonly SymbolFacts[], symbol: string): SymbolFacts | null {
  const parts = spreadParts(symbol).map((part) => factsOf(all, part))
  const [first] = parts
  if (!first || parts.includes(null)) return null
  return {
    ...first,
    exchange: SPREAD_EXCHANGE,
    symbol,
    description: spreadText(symbol),
    mintick: 0.00001,
    // A spread has the intervals that all of its symbols have.
    series: first.series.filter(({ interval }) =>
      parts.every((part) => part?.series.some((one) => one.interval === interval)),
    ),
  }
}

const ADJUSTED = { none: '', difference: ', back-adjusted', ratio: ', back-adjusted by ratio' } as const

function continuousFacts(all: readonly SymbolFacts[], { exchange, symbol }: Named): SymbolFacts | null {
  const name = continuousName(symbol)
  if (!name) return null
  const here = all.filter((one) => one.exchange === exchange)
  const contracts = contractsOf(
    here.map((one) => one.symbol),
    name.root,
  )
  const newest = here.find((one) => one.symbol === contracts.at(-1)?.symbol)
  if (!newest) return null
  const which = name.position === 1 ? 'continuous' : `continuous, contract ${name.position}`
  return {
    ...newest,
    symbol,
    type: 'futures',
    description: `${name.root}, ${which}${ADJUSTED[name.adjustment]}`,
  }
}

/** The continuous futures that can be made of what is known: plain, back-adjusted, and the second contract of each root. */
export function allContinuous(all: readonly SymbolFacts[]): SymbolFacts[] {
  const counts = new Map<string, { readonly exchange: string; readonly root: string; count: number }>()
  for (const { exchange, symbol } of all) {
    const root = contractOf(symbol)?.root
    if (root === undefined) continue
    const key = `${exchange}:${root}`
    const known = counts.get(key)
    if (known) known.count++
    else counts.set(key, { exchange, root, count: 1 })
  }
  return [...counts.values()]
    .filter(({ count }) => count > 1)
    .flatMap(({ exchange, root }) =>
      ['1!', '1!B', '2!'].flatMap((ending) => {
        const symbol = root + ending
        const isStored = all.some((one) => one.exchange === exchange && one.symbol === symbol)
        return (isStored ? null : continuousFacts(all, { exchange, symbol })) ?? []
      }),
    )
}

/** Whether bars of `part` are bars of the market: its own, or of what it is made of. */
export function isPartOf(part: Named, market: Named): boolean {
  if (nameOf(part) === nameOf(market)) return true
  if (market.exchange === SPREAD_EXCHANGE)
    return spreadParts(market.symbol).some((one) => isPartOf(part, one))
  const name = continuousName(market.symbol)
  return name !== null && part.exchange === market.exchange && contractOf(part.symbol)?.root === name.root
}

function spreadParts(formula: string): readonly Named[] {
  try {
    return parseSpread(formula).parts
  } catch {
    return []
  }
}

/** A formula without the exchanges, as a title. */
const spreadText = (formula: string): string =>
  formula
    .replaceAll(/[^\s+\-*/()":]+:/gu, '')
    .replaceAll('"', '')
    .replaceAll(/\s*([+\-*/])\s*/g, ' $1 ')
