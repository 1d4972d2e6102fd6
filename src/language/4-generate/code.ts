// A piece of generated JavaScript: its text, the columns it reads, and whether it is simple.
//
//     js`(${left}+${right})`
//
// Pieces are put together from pieces and made text once, at the end. What has to be known of one is asked of it: no text
// is read back, and a string of the script's that looks like code is never taken for code.

import type { PlannedColumn } from '../3-plan/plan.ts'

/** Strings stand as they are and read no column. A list has commas between its parts. */
export type CodePart = string | number | Code | readonly CodePart[]

export class Code {
  readonly text: string
  /** What follows the text; null = nothing. */
  readonly more: readonly (string | Code)[] | null
  /** A name or a literal: executing it alone does nothing. */
  readonly isSimple: boolean

  constructor(text: string, more: readonly (string | Code)[] | null = null, isSimple = false) {
    this.text = text
    this.more = more
    this.isSimple = isSimple
  }

  toText(): string {
    const { more } = this
    let { text } = this
    if (more !== null) for (const part of more) text += typeof part === 'string' ? part : part.toText()
    return text
  }

  /** The names of the columns it reads or sets, in the order of its text. */
  get columns(): readonly string[] {
    const found: string[] = []
    this.noteColumns(found)
    return found
  }

  protected noteColumns(found: string[]): void {
    for (const part of this.more ?? []) if (typeof part !== 'string') part.noteColumns(found)
  }
}

/** A name or a literal. */
export function simple(text: string | number): Code {
  return new Code(String(text), null, true)
}

/**
 * The tag of template literals that are JavaScript. Most of them read no column and become a single string. The others keep
 * their parts as they are: to copy those of the parts into each piece around them took half of the time to write a script.
 */
export function js(texts: TemplateStringsArray, ...parts: readonly CodePart[]): Code {
  let text = texts[0]!
  let more: (string | Code)[] | null = null
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!
    const behind = texts[i + 1]!
    if (more === null) {
      if (typeof part === 'string') {
        text += part + behind
        continue
      }
      if (part instanceof Code && part.more === null) {
        text += part.text + behind
        continue
      }
      more = []
    }
    add(more, part, ',')
    if (behind !== '') more.push(behind)
  }
  return new Code(text, more)
}

/** One after the other. */
export function sequence(parts: readonly CodePart[]): Code {
  const more: (string | Code)[] = []
  add(more, parts, '')
  return new Code('', more)
}

function add(more: (string | Code)[], part: CodePart, separator: string): void {
  if (typeof part === 'string' || part instanceof Code) more.push(part)
  else if (typeof part === 'number') more.push(String(part))
  else
    for (let i = 0; i < part.length; i++) {
      if (i > 0 && separator !== '') more.push(separator)
      add(more, part[i]!, separator)
    }
}

/** So many bars before the one being executed; `o` = as many as an offset says that was just evaluated. */
export type Back = number | 'o'

export function indexOf(back: Back): string {
  return back === 0 ? 'i' : `i-${back}`
}

/** The mask of a column that is there as a whole. */
export const WHOLE = -1

const LATER: readonly Code[] = []

/** What an index into a column is masked with. */
interface Masks {
  maskOf(index: number): number
}

/**
 * An entry of a column. What is only ever read on its own bar, or a few bars back, needs no more than a block or two of
 * entries, whose index is masked; whether that is so is known when everything has been written.
 */
export class ColumnValue extends Code {
  readonly column: string
  readonly kind: PlannedColumn['kind']
  readonly back: Back
  readonly #index: number
  readonly #masks: Masks | null

  /** A column without a number, or without masks, is there as a whole. */
  constructor(
    column: string,
    kind: PlannedColumn['kind'],
    back: Back = 0,
    index = -1,
    masks: Masks | null = null,
  ) {
    super('', LATER)
    this.column = column
    this.kind = kind
    this.back = back
    this.#index = index
    this.#masks = masks
  }

  get mask(): number {
    return this.#masks === null ? WHOLE : this.#masks.maskOf(this.#index)
  }

  override toText(): string {
    const { mask } = this
    return mask === WHOLE
      ? `${this.column}[${indexOf(this.back)}]`
      : `${this.column}[${indexOf(this.back)}&${mask}]`
  }

  /** The column it is an entry of and its mask, for what takes a block of bars at once. */
  get withMask(): Code {
    return new ColumnWithMask(this)
  }

  protected override noteColumns(found: string[]): void {
    found.push(this.column)
  }
}

class ColumnWithMask extends Code {
  readonly #of: ColumnValue

  constructor(of: ColumnValue) {
    super('', LATER)
    this.#of = of
  }

  override toText(): string {
    return `${this.#of.column},${this.#of.mask}`
  }

  protected override noteColumns(found: string[]): void {
    found.push(this.#of.column)
  }
}
