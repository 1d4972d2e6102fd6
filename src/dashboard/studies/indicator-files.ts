// A Bun macro, as those of `ui/wire-fields.ts`: the scripts of `data/indicators` become a part of the page when it is bundled.

import { readdirSync, readFileSync } from 'node:fs'

/** Sources by file name. */
export function indicatorFiles(): Record<string, string> {
  const folder = new URL('../../../data/indicators/', import.meta.url)
  const ids = readdirSync(folder).map((file) => file.replace(/\.pine$/, ''))
  return Object.fromEntries(
    ids.toSorted().map((id) => [id, readFileSync(new URL(`${id}.pine`, folder), 'utf8')]),
  )
}
