// Reads JSON as it arrives without building a value of it: for files too large to be parsed at once.
//
//     const reader = new JsonReader(listener, { depth: 8 })
//     for await (const text of pieces) reader.write(text)
//     reader.end()
//
// A listener is told of each bracket, name and value, and keeps what it wants. The reader holds one piece and one
// token in memory, and bounds the nesting. It accepts exactly what JSON.parse accepts.

export interface JsonListener {
  open(kind: 'list' | 'object'): void
  close(): void
  /** The name of the field whose value follows. */
  name(name: string): void
  value(value: string | number | boolean | null): void
}

/** The text is not JSON, or exceeds the bounds; the message says which, in words that follow "it ". */
export class JsonError extends Error {}

/** Longest text or number. No file that we read in pieces has a longer one. */
const TOKEN_MAX = 1_000_000

type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing'

const SPACE = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])
const WORD = /[a-z]+/y

export class JsonReader {
  readonly #listener: JsonListener
  readonly #depth: number
  readonly #open: ('list' | 'object')[] = []
  #expected: Expected = 'value'
  /** The rest of the last piece: it begins with a token that may continue in the next. */
  #rest = ''

  constructor(listener: JsonListener, { depth }: { readonly depth: number }) {
    this.#listener = listener
    this.#depth = depth
  }

  /** Throws JsonError. */
  write(text: string): void {
    this.#read(this.#rest + text, false)
    if (this.#rest.length > TOKEN_MAX) throw new JsonError(`has a text of more than ${TOKEN_MAX} characters`)
  }

  end(): void {
    this.#read(this.#rest, true)
    if (this.#expected !== 'nothing') throw new JsonError('is not JSON')
  }

  #read(text: string, isLast: boolean): void {
    let at = 0
    for (;;) {
      SPACE.lastIndex = at
      SPACE.test(text)
      at = SPACE.lastIndex
      const end = at < text.length ? this.#token(text, at, isLast) : -1
      if (end < 0) {
        this.#rest = text.slice(at)
        if (isLast && this.#rest !== '') throw new JsonError('is not JSON')
        return
      }
      at = end
    }
  }

  /** Reads the token at `at` and answers where it ends, or -1 if the rest of it is still to come. */
  #token(text: string, at: number, isLast: boolean): number {
    const first = text[at]
    switch (first) {
      case '{':
        return this.#begin('object', at)
      case '[':
        return this.#begin('list', at)
      case '}':
      case ']':
        return this.#finish(first === '}' ? 'object' : 'list', at)
      case ',':
        this.#want('comma or end')
        this.#expected = this.#open.at(-1) === 'object' ? 'name' : 'value'
        return at + 1
      case ':':
        this.#want('colon')
        this.#expected = 'value'
        return at + 1
      case '"':
        return this.#text(text, at)
      default:
        return this.#plain(text, at, isLast)
    }
  }

  #begin(kind: 'list' | 'object', at: number): number {
    this.#want('value', 'value or end')
    if (this.#open.length >= this.#depth) throw new JsonError(`is nested more than ${this.#depth} deep`)
    this.#open.push(kind)
    this.#expected = kind === 'list' ? 'value or end' : 'name or end'
    this.#listener.open(kind)
    return at + 1
  }

  #finish(kind: 'list' | 'object', at: number): number {
    this.#want('comma or end', kind === 'list' ? 'value or end' : 'name or end')
    if (this.#open.pop() !== kind) throw new JsonError('is not JSON')
    this.#listener.close()
    this.#valued()
    return at + 1
  }

  #text(text: string, at: number): number {
    let end = text.indexOf('"', at + 1)
    while (end >= 0 && isEscaped(text, at, end)) end = text.indexOf('"', end + 1)
    if (end < 0) return -1
    const value = textIn(text.slice(at, end + 1))
    if (this.#expected === 'name' || this.#expected === 'name or end') {
      this.#expected = 'colon'
      this.#listener.name(value)
    } else this.#say(value)
    return end + 1
  }

  /** Reads a number or a word, which ends where something else begins. */
  #plain(text: string, at: number, isLast: boolean): number {
    const pattern = /[a-z]/.test(text[at] ?? '') ? WORD : NUMBER
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0] ?? ''
    const end = at + found.length
    // The next piece may turn `1` into `1.5`, or complete a `-` or a `tr`.
    if (!isLast && text.length - end < 3 && text.length - at < TOKEN_MAX) return -1
    const word = pattern === WORD ? WORDS.get(found) : Number(found)
    if (found === '' || word === undefined) throw new JsonError('is not JSON')
    this.#say(word)
    return end
  }

  #say(value: string | number | boolean | null): void {
    this.#want('value', 'value or end')
    this.#listener.value(value)
    this.#valued()
  }

  #valued(): void {
    this.#expected = this.#open.length === 0 ? 'nothing' : 'comma or end'
  }

  #want(...wanted: readonly Expected[]): void {
    if (!wanted.includes(this.#expected)) throw new JsonError('is not JSON')
  }
}

/** Whether an odd number of backslashes precedes the quote. */
function isEscaped(text: string, start: number, quote: number): boolean {
  let at = quote
  while (at - 1 > start && text[at - 1] === '\\') at--
  return (quote - at) % 2 === 1
}

function textIn(token: string): string {
  try {
    return JSON.parse(token) as string
  } catch {
    throw new JsonError('is not JSON')
  }
}
