// Fetches the libraries that a script imports, and those that they import, before it is compiled, since a compilation
// cannot wait.

import { scriptsReadBy } from '../../broker/plotted-scripts.ts'
import { toldBy } from './told.ts'
import type { Desk } from './desk.ts'

/** The most libraries that one script may lead to. */
const LIBRARIES_MAX = 200

/** The sources by `user/library/version`, of what a script and those whose plots it reads import. */
export async function librariesOf(
  source: string,
  host: Pick<Desk['host'], 'library'>,
  inputs: Readonly<Record<string, unknown>> = {},
): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null>()
  const open = [source, ...scriptsReadBy(inputs)]
  for (let text = open.pop(); text !== undefined; text = open.pop())
    for (const { user, library, version } of toldBy(text).outline.imports) {
      const path = `${user}/${library}/${version}`
      if (found.has(path) || found.size >= LIBRARIES_MAX) continue
      const imported = await host.library(user, library, version)
      found.set(path, imported)
      if (imported !== null) open.push(imported)
    }
  return found
}
