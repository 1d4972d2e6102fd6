// The symbols of stock exchanges. Yahoo Finance publishes no list, so that of American stocks comes from Nasdaq Trader, which
// is asked only by who chooses it.

import type { SymbolType } from '../../lib/symbol-type.ts'
import { malformedList } from './fetch-list.ts'
import { listing, listings, type SymbolList } from './listing.ts'

const FOLDER = 'https://www.nasdaqtrader.com/dynamic/SymDir/'
/** Letters of the exchanges in the second file. */
const VENUES: Readonly<Record<string, string>> = { A: 'AMEX', N: 'NYSE', P: 'ARCA', Z: 'BATS', V: 'IEX' }

/**
 * nasdaqlisted.txt and otherlisted.txt: columns between `|`, a line with their names, and a last one that says when the file
 * was made.
 */
export const nasdaqTraderList: SymbolList = {
  provider: 'Nasdaq Trader',
  exchanges: ['NASDAQ', ...Object.values(VENUES)],
  gapMs: 1000,
  async *read(pages) {
    for (const [file, ticker] of [
      ['nasdaqlisted.txt', 'Symbol'],
      ['otherlisted.txt', 'ACT Symbol'],
    ] as const) {
      const text = new TextDecoder().decode(await pages.bytes({ url: `${FOLDER}${file}` }))
      const [head = '', ...lines] = text.split(/\r?\n/)
      const names = head.split('|')
      if (!names.includes(ticker) || !lines.some((line) => line.startsWith('File Creation Time')))
        // A file that was cut would take its missing half off the list.
        throw malformedList('Nasdaq Trader')
      yield listings(
        lines.map((line) => {
          const values = line.split('|')
          const of = (name: string) => values[names.indexOf(name)]
          if (values.length !== names.length || of('Test Issue') !== 'N') return null
          const exchange = file === 'nasdaqlisted.txt' ? 'NASDAQ' : VENUES[of('Exchange') ?? '']
          const name = of('Security Name')
          return listing(exchange, of(ticker), name, stockType(name ?? '', of('ETF') === 'Y'))
        }),
      )
    }
  },
}

export function stockType(name: string, isFund: boolean): SymbolType {
  if (isFund) return 'fund'
  if (/\bwarrants?\b/i.test(name)) return 'warrant'
  if (/\brights?\b/i.test(name)) return 'right'
  if (/\b(american )?depositary shares?\b|\bADR\b|\bADS\b/i.test(name)) return 'dr'
  return 'stock'
}
