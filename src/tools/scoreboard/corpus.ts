// Published scripts: finds them in a folder and compiles them one by one.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from '../../language/compile.ts'

export interface Compiled {
  readonly scripts: number
  readonly compile: number
  /** Scripts that are not Pine, although they compile elsewhere: TradingView refuses them for the same reason. */
  readonly foreign: number
  /** For each code of a first error, how many scripts stop at it, the most frequent first. */
  readonly stops: ReadonlyMap<string, number>
}

/**
 * Each different text once: `.pine` files, other texts with a version line, and the first block of Pine in a Markdown file.
 */
function scriptsOf(folder: string): string[] {
  const texts = new Set<string>()
  for (const file of new Bun.Glob('**/*.{pine,pinescript,txt,md}').scanSync({
    cwd: folder,
    followSymlinks: true,
  })) {
    const text = readFileSync(join(folder, file), 'utf8')
    const script = file.endsWith('.md') ? blockOf(text) : text
    if (script !== null && /^\s*\/\/\s*@version\s*=\s*[456]\b/m.test(script)) texts.add(script)
  }
  return [...texts]
}

function blockOf(markdown: string): string | null {
  const block = /^```\s*pinescript\s*\n(.*?)^```/ms.exec(markdown)?.[1]
  // Some sites put settings of their own in front.
  return block?.replace(/\/\*backtest.*?\*\/\s*/s, '') ?? null
}

/** A piece of a script without a declaration, or orders in an indicator; other platforms accept these. */
const FOREIGN: ReadonlySet<string> = new Set(['no-declaration', 'strategy-only'])

export function compileAll(folder: string): Compiled {
  const scripts = scriptsOf(folder)
  const stops = new Map<string, number>()
  let foreign = 0
  for (const text of scripts) {
    const { script, diagnostics } = compile(text)
    if (script) continue
    const code = diagnostics.find(({ severity }) => severity === 'error')?.code ?? 'no error is named'
    if (FOREIGN.has(code)) foreign++
    else stops.set(code, (stops.get(code) ?? 0) + 1)
  }
  const stopped = [...stops.values()].reduce((sum, count) => sum + count, foreign)
  return {
    scripts: scripts.length,
    compile: scripts.length - stopped,
    foreign,
    stops: new Map([...stops].toSorted((a, b) => b[1] - a[1])),
  }
}
