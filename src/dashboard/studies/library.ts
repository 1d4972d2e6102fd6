// The indicators that come with Chartroom, each a script of `data/indicators` that describes itself.

import { indicatorFiles } from './indicator-files.ts' with { type: 'macro' }

export type LibraryIndicator = (typeof LIBRARY)[number]

export const LIBRARY = Object.entries(indicatorFiles())
  .map(([id, source]) => ({ id, source, ...headOf(source) }))
  .sort((a, b) => a.title.localeCompare(b.title))

/**
 * The titles are the declaration's; category and other names, which people search for it by, are in comments above it:
 * `// Category: Bands`, `// Also: BB, volatility bands`.
 */
export function headOf(source: string) {
  const comment = (name: string) => new RegExp(`^// ${name}: (.+)$`, 'm').exec(source)?.[1]?.trim() ?? ''
  const [, title = ''] = /^indicator\(\s*"([^"]+)"/m.exec(source) ?? []
  const [, shortTitle = title] = /^indicator\([^)]*shorttitle\s*=\s*"([^"]+)"/m.exec(source) ?? []
  return { title, shortTitle, category: comment('Category'), also: comment('Also') }
}
