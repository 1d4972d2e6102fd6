// The indicators that Chartroom brings, each a script of `data/indicators`. What they are stands in their text.

import macd from '../../../data/indicators/macd.pine' with { type: 'text' }
import rsi from '../../../data/indicators/rsi.pine' with { type: 'text' }
import sma from '../../../data/indicators/sma.pine' with { type: 'text' }

export interface LibraryIndicator {
  readonly id: string
  readonly title: string
  readonly shortTitle: string
  readonly category: string
  /** Other words that people look for it by. */
  readonly also: string
  readonly source: string
}

/** By the name of its file. */
const SOURCES: Readonly<Record<string, string>> = {
  macd,
  rsi,
  sma,
}

export const LIBRARY: readonly LibraryIndicator[] = Object.entries(SOURCES).map(([id, source]) => ({
  id,
  source,
  ...headOf(source),
}))

/**
 * Title and short title are the declaration's; category and other names stand in comments above it: `// Category: Bands`,
 * `// Also: BB, volatility bands`.
 */
export function headOf(source: string): Omit<LibraryIndicator, 'id' | 'source'> {
  const comment = (name: string) => new RegExp(`^// ${name}: (.+)$`, 'm').exec(source)?.[1]?.trim() ?? ''
  const [, title = ''] = /^indicator\(\s*"([^"]+)"/m.exec(source) ?? []
  const [, shortTitle = title] = /^indicator\([^)]*shorttitle\s*=\s*"([^"]+)"/m.exec(source) ?? []
  return { title, shortTitle, category: comment('Category'), also: comment('Also') }
}
