// Published scripts and lists of trades: which clones a folder has, and how many of their scripts compile.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { compile } from '../../language/compile.ts'
import { outline } from '../../language/outline.ts'
import { SOURCES, type Source } from './sources.ts'

export interface Clone {
  readonly folder: string
  /** OWNER/NAME where that is known, else the folder's own name. */
  readonly name: string
  readonly source: Source | null
  readonly what: Source['what']
}

/**
 * The clones that `dir` has: itself, or those in it, under whatever names. The order is that of the known sources, so the same
 * material is listed alike on every machine.
 */
export function clonesIn(dir: string): Clone[] {
  const own = cloneOf(dir)
  if (own.source !== null || existsSync(join(dir, '.git')) || existsSync(join(dir, 'validation')))
    return [own]
  const inner = readdirSync(dir)
    .map((name) => join(dir, name))
    .filter((folder) => statSync(folder).isDirectory())
    .map(cloneOf)
  const known = inner.filter(({ source, folder }) => source !== null || existsSync(join(folder, '.git')))
  if (known.length === 0) return [own]
  const place = ({ source }: Clone) => (source === null ? SOURCES.length : SOURCES.indexOf(source))
  return known.sort((a, b) => place(a) - place(b) || a.name.localeCompare(b.name, 'en'))
}

function cloneOf(folder: string): Clone {
  const origin = originOf(folder)
  const source =
    SOURCES.find(({ repository }) => repository.toLowerCase() === origin?.toLowerCase()) ??
    (origin === null ? SOURCES.find(({ knownBy }) => existsSync(join(folder, knownBy))) : undefined) ??
    null
  const hasTrades = existsSync(join(folder, 'validation')) && existsSync(join(folder, 'data'))
  return {
    folder,
    name: source?.repository ?? origin ?? basename(resolve(folder)),
    source,
    what: source?.what ?? (hasTrades ? 'trades' : 'scripts'),
  }
}

/** OWNER/NAME of where a clone came from. */
function originOf(folder: string): string | null {
  const config = join(folder, '.git/config')
  const text = existsSync(config) ? readFileSync(config, 'utf8') : ''
  return /github\.com[:/]([\w.-]+\/[\w.-]+?)(?:\.git)?\s/.exec(text)?.[1] ?? null
}

export interface Compiled {
  readonly scripts: number
  readonly compile: number
  /** Scripts that are not Pine, although they compile elsewhere: TradingView refuses them for the same reason. */
  readonly foreign: number
  /** For each code of a first error, how many scripts stop at it, the most frequent first. */
  readonly stops: ReadonlyMap<string, number>
  /** By the path of a library, how many scripts import it, and how many of those compile. */
  readonly libraries: ReadonlyMap<string, readonly [scripts: number, compile: number]>
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

/**
 * A piece of a script without a declaration, or orders in an indicator, which other platforms accept; and an argument given
 * twice, which version 6 refuses by TradingView's guide to it.
 */
const FOREIGN: ReadonlySet<string> = new Set(['no-declaration', 'strategy-only', 'duplicate-argument'])

export function compileAll(folder: string): Compiled {
  const scripts = scriptsOf(folder)
  const stops = new Map<string, number>()
  const libraries = new Map<string, readonly [number, number]>()
  let foreign = 0
  for (const text of scripts) {
    const { script, diagnostics } = compile(text)
    for (const { user, library } of outline(text).imports) {
      const path = `${user}/${library}`
      const [all, done] = libraries.get(path) ?? [0, 0]
      libraries.set(path, [all + 1, done + Number(script !== null)])
    }
    if (script) continue
    const first = diagnostics.find(({ severity }) => severity === 'error')
    const code = first?.code ?? 'no error is named'
    if (FOREIGN.has(code)) foreign++
    else {
      // TradingView's own code, where the message names one.
      const theirs = /\((CE\d+)\)/.exec(first?.message ?? '')?.[1]
      const named = theirs === undefined ? code : `${code} (${theirs})`
      stops.set(named, (stops.get(named) ?? 0) + 1)
    }
  }
  const stopped = [...stops.values()].reduce((sum, count) => sum + count, foreign)
  return {
    scripts: scripts.length,
    compile: scripts.length - stopped,
    foreign,
    stops: new Map([...stops].toSorted((a, b) => b[1] - a[1])),
    libraries: new Map([...libraries].toSorted(([a], [b]) => a.localeCompare(b, 'en'))),
  }
}
