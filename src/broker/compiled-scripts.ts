// The scripts that a thread compiled last. A script whose inputs are being tried runs again and again: if it is compiled
// only once, its machine code is warm too, and 50,000 bars take 2.5 ms instead of 4.1.

import { compile, type CompileOptions, type CompileResult } from '../language/compile.ts'

/**
 * The limit of all sources together, in characters, where each script counts extra; a character takes some 60 bytes of
 * memory. People try a few scripts at a time, and whoever sends thousands hardly sends one of them again: with more than
 * these the process grew to 520 MB over 8,000 texts, and every collection had to walk over them all.
 */
const SIZE_MAX = 400_000
/** Alerts run a thousand scripts in turn, so for them more are kept. */
export const ALERTS_SIZE_MAX = 2_000_000
const SIZE_EACH = 1000

type Library = NonNullable<CompileOptions['library']>

interface Compiled {
  readonly result: CompileResult
  /** What it asked for while it was compiled, and what the answers were. */
  readonly imports: readonly { readonly name: Parameters<Library>; readonly source: string | null }[]
  readonly size: number
}

export class CompiledScripts {
  /** By source, the most recently used last. */
  readonly #known = new Map<string, Compiled>()
  readonly #max: number
  #size = 0
  #compiled = 0

  constructor(max = SIZE_MAX) {
    this.#max = max
  }

  /** How many times it has compiled a text. */
  get compiled(): number {
    return this.#compiled
  }

  /** A script that imports is compiled again if one of its imports has changed since, or is another user's. */
  compile(source: string, options: CompileOptions): CompileResult {
    const { library } = options
    // Where there are no libraries at all, an import fails in words of its own.
    if (!library && /\bimport\b/.test(source)) return compile(source, options)
    const known = this.#known.get(source)
    const isSame = known?.imports.every(({ name, source: before }) => (library?.(...name) ?? null) === before)
    if (!isSame) this.#compiled++
    const found = known && isSame ? known : compiled(source, options)
    if (known) this.#forget(source, known)
    this.#known.set(source, found)
    this.#size += found.size
    for (const [oldest, one] of this.#known) {
      if (this.#size <= this.#max) break
      this.#forget(oldest, one)
    }
    return found.result
  }

  #forget(source: string, { size }: Compiled): void {
    this.#known.delete(source)
    this.#size -= size
  }
}

function compiled(source: string, options: CompileOptions): Compiled {
  const { library } = options
  const imports: Compiled['imports'][number][] = []
  const noting: Library = (...name) => {
    const text = library?.(...name) ?? null
    imports.push({ name, source: text })
    return text
  }
  const result = compile(source, library ? { ...options, library: noting } : options)
  const size = imports.reduce((sum, one) => sum + (one.source?.length ?? 0), source.length + SIZE_EACH)
  return { result, imports, size }
}
