// What is kept of a portfolio: its record, the scripts of its parts, its result, and the parts' reports.

import type { Key } from '../../store/kv.ts'
import type { Portfolio as PortfolioWire } from '../../wire/portfolio.ts'
import { recordsOf } from '../jobs/records.ts'

type PartWire = Omit<PortfolioWire['parts'][number], 'source' | 'inputs' | 'overrides'>

export interface StoredPart extends PartWire {
  readonly seriesOwner: string
}

export interface Portfolio extends Omit<PortfolioWire, 'parts'> {
  readonly userId: string
  readonly parts: readonly StoredPart[]
}

/** The most portfolios of a user. */
const PORTFOLIOS_MAX = 100

export const portfolios = recordsOf<Portfolio>('portfolios', PORTFOLIOS_MAX)

export const scriptsKey = (id: string): Key => ['portfolio-scripts', id]
export const resultKey = (id: string): Key => ['portfolio-result', id]
/** The pieces of a long text are stored under longer keys that begin with this one. */
export const reportKey = (id: string, part: number): Key => ['portfolio-report', id, part]
export const tracksKey = (id: string, part: number): Key => ['portfolio-tracks', id, part]
/** CSV. */
export const tradesKey = (id: string): Key => ['portfolio-trades', id]
