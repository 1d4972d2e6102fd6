// A Bun macro: it runs while the file that calls it is bundled (or loaded from source), so that the articles become part of
// it.

import { readdirSync, readFileSync } from 'node:fs'

/** The text of every article by file name, without the ending. */
export function readArticles(): Record<string, string> {
  const folder = `${import.meta.dir}/articles`
  return Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((file) => [file.replace(/\.md$/, ''), readFileSync(`${folder}/${file}`, 'utf8')]),
  )
}
