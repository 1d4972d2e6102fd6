// A piece of generated JavaScript: its text, the columns it reads, and whether it is simple.
//
//     js`(${left}+${right})`
//
// Pieces are put together from pieces and made text once, at the end. What has to be known of one is asked of it: no text
// is read back, and a string of the script's that looks like code is never taken for code.

import type { Column } from '../3-plan/plan.ts'

/** Strings stand as they are and read no column. A list has commas between its parts. */
export type Part = string | number | Code | readonly Part[]

/** A place in a piece whose text is known when everything has been written. */
interface Slot {
  readonly column: string
  slotText(): string
}

const NO_SLOTS: readonly Slot[] = []
const NO_TEXTS: readonly string[] = []

export class Code {
  readonly text: string
  readonly slots: readonly Slot[]
  /** The text behind each slot. */
  readonly behind: readonly string[]
  /** A name or a literal: executing it alone does nothing. */
  readonly isSimple: boolean

  constructor(text: string, slots = NO_SLOTS, behind = NO_TEXTS, isSimple = false) {
    this.text = text
    this.slots = slots
    this.behind = behind
    this.isSimple = isSimple
  }

  toText(): string {
    let { text } = this
    for (let i = 0; i < this.slots.length; i++) text += this.slots[i]!.slotText() + this.behind[i]!
    return text
  }

  /** The names of the columns it reads or sets, in the order of its text. */
  get columns(): readonly string[] {
    return this.slots.map(({ column }) => column)
  }
}

/** A name or a literal. */
export function simple(text: string | number): Code {
  return new Code(String(text), NO_SLOTS, NO_TEXTS, true)
}

/**
 * The tag of template literals that are JavaScript. Most of them have no slot and become a single string, which is why they
 * are tried as one first: a script has hundreds, and compiling a corpus took 5 % longer without.
 */
export function js(texts: TemplateStringsArray, ...parts: readonly Part[]): Code {
  let text = texts[0]!
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!
    if (typeof part === 'string') text += part
    else if (part instanceof Code && part.slots === NO_SLOTS) text += part.text
    else return joined(text, texts, parts, i)
    text += texts[i + 1]!
  }
  return new Code(text)
}

function joined(text: string, texts: readonly string[], parts: readonly Part[], from: number): Code {
  const joint = new Joint(text)
  for (let i = from; i < parts.length; i++) {
    joint.add(parts[i]!, ',')
    joint.text(texts[i + 1]!)
  }
  return joint.code()
}

/** One after the other. */
export function sequence(parts: readonly Part[]): Code {
  const joint = new Joint('')
  joint.add(parts, '')
  return joint.code()
}

/** Parts that become one piece. */
class Joint {
  #text: string
  readonly #slots: Slot[] = []
  readonly #behind: string[] = []

  constructor(text: string) {
    this.#text = text
  }

  text(text: string): void {
    if (this.#behind.length === 0) this.#text += text
    else this.#behind[this.#behind.length - 1] += text
  }

  add(part: Part, separator: string): void {
    if (part instanceof Code) {
      this.text(part.text)
      for (let i = 0; i < part.slots.length; i++) {
        this.#slots.push(part.slots[i]!)
        this.#behind.push(part.behind[i]!)
      }
    } else if (typeof part === 'object')
      for (const [i, each] of part.entries()) {
        if (i > 0) this.text(separator)
        this.add(each, separator)
      }
    else this.text(String(part))
  }

  code(): Code {
    return this.#slots.length === 0 ? new Code(this.#text) : new Code(this.#text, this.#slots, this.#behind)
  }
}

/** So many bars before the one being executed; `o` = as many as an offset says that was just evaluated. */
export type Back = number | 'o'

export function indexOf(back: Back): string {
  return back === 0 ? 'i' : `i-${back}`
}

/** The mask of a column that is there as a whole. */
export const WHOLE = -1

const NOTHING_BEHIND: readonly string[] = ['']

/** What an index into a column is masked with. */
interface Masks {
  maskOf(index: number): number
}

/**
 * An entry of a column. What is only ever read on its own bar needs no more than a block of entries, whose index is
 * masked; whether that is so is known when everything has been written.
 */
export class Entry extends Code implements Slot {
  override readonly slots: readonly Slot[] = [this]
  readonly column: string
  readonly kind: Column['kind']
  readonly back: Back
  readonly #index: number
  readonly #masks: Masks | null

  /** A column without a number, or without masks, is there as a whole. */
  constructor(column: string, kind: Column['kind'], back: Back = 0, index = -1, masks: Masks | null = null) {
    super('', NO_SLOTS, NOTHING_BEHIND)
    this.column = column
    this.kind = kind
    this.back = back
    this.#index = index
    this.#masks = masks
  }

  get #mask(): number {
    return this.#masks === null ? WHOLE : this.#masks.maskOf(this.#index)
  }

  slotText(): string {
    const mask = this.#mask
    return mask === WHOLE
      ? `${this.column}[${indexOf(this.back)}]`
      : `${this.column}[${indexOf(this.back)}&${mask}]`
  }

  /** The column it is an entry of and its mask, for what takes a block of bars at once. */
  get withMask(): Code {
    const { column } = this
    return new Code(`${column},`, [{ column, slotText: () => String(this.#mask) }], NOTHING_BEHIND)
  }
}
