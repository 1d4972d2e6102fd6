// Regular expressions that cannot hang: what str.match() runs.
//
// A backtracking matcher, JavaScript's own among them, takes time exponential in its input for patterns such as
// `(a+)+$`, and a script is text from a stranger. So a pattern is compiled to Thompson's NFA and run as Pike's
// machine: all alternatives side by side, in order of preference, each program place at most once a character. The
// cost is at most input × program, both bounded. A look-around is a program of its own, run over the text once: forwards
// it tells at which places what stands before ends, backwards and turned around where what comes begins. Of Java's
// syntax, back references are not there (no such machine can have them); a pattern with one is refused, saying so.

import { invalidRegex } from '../messages/failing.ts'
import { memo } from '../../lib/memo.ts'
import type { ScriptError } from '../script-error.ts'

const PROGRAM_MAX = 5000
/** Pieces of a pattern handled while compiling it: repeats of nothing would take for ever without adding to the program. */
const STEPS_MAX = 50_000
const DEPTH_MAX = 200

type Test = (code: number) => boolean

type Instruction =
  | { readonly op: 'char'; readonly test: Test }
  | { readonly op: 'match' }
  /** `first` is preferred. */
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'assert'; readonly holds: (text: string, at: number) => boolean }

/** The part of `text` that the pattern matches first (leftmost, by Perl's preferences), or '' where it does not. */
export function matchRegex(text: string, pattern: string): string {
  const regex = regexOf(pattern)
  // Most scripts look for the same thing in the same text on every bar: an input that they read as a rule.
  if (regex.text === text) return regex.found
  const found = search(regex, text)
  if (text.length <= KEPT_MAX) {
    regex.text = text
    regex.found = found
  }
  return found
}

function search({ program, first, visited }: Regex, text: string): string {
  let threads: Thread[] = []
  let found: Thread | null = null
  let foundEnd = 0
  visited.fill(0)
  for (let at = 0; at <= text.length; at++) {
    const code = codeAt(text, at)
    if (found === null) {
      // Where nothing is under way, a match can only begin with a character that the program begins with.
      if (first !== null && threads.length === 0 && (code < 0 || !first(code))) continue
      threads.push({ place: 0, start: at })
    }
    const next: Thread[] = []
    for (const thread of threads) {
      const isDone = follow(program, thread, text, at, code, visited, next)
      if (isDone) {
        found = thread
        foundEnd = at
        break
      }
    }
    threads = next
    if (threads.length === 0 && found !== null) break
  }
  return found === null ? '' : text.slice(found.start, foundEnd)
}

/** The places of the text at which the pattern ends, or backwards those at which one read from the end begins. */
function placesOf(program: readonly Instruction[], text: string, isBackwards: boolean): Uint8Array {
  const places = new Uint8Array(text.length + 1)
  const visited = new Int32Array(program.length)
  let threads: Thread[] = []
  for (let step = 0; step <= text.length; step++) {
    const at = isBackwards ? text.length - step : step
    const code = codeAt(text, isBackwards ? at - 1 : at)
    const next: Thread[] = []
    threads.push({ place: 0, start: at })
    for (const thread of threads) if (follow(program, thread, text, at, code, visited, next)) places[at] = 1
    threads = next
  }
  return places
}

/** -1 past the ends. */
function codeAt(text: string, at: number): number {
  return at >= 0 && at < text.length ? text.charCodeAt(at) : -1
}

interface Thread {
  readonly place: number
  readonly start: number
}

/**
 * Runs a thread up to the characters it wants, `code` being the next one; true when it reached the end of the program. A
 * place that was visited is marked by `at` + 1, which is another number for each character, so that no mark is ever wiped.
 */
function follow(
  program: readonly Instruction[],
  thread: Thread,
  text: string,
  at: number,
  code: number,
  visited: Int32Array,
  next: Thread[],
): boolean {
  const seen = at + 1
  const stack = [thread.place]
  while (stack.length > 0) {
    const place = stack.pop()!
    if (visited[place] === seen) continue
    visited[place] = seen
    const instruction = program[place]!
    switch (instruction.op) {
      case 'match':
        return true
      case 'jump':
        stack.push(instruction.to)
        break
      case 'split':
        stack.push(instruction.second, instruction.first)
        break
      case 'assert':
        if (instruction.holds(text, at)) stack.push(place + 1)
        break
      case 'char':
        if (code >= 0 && instruction.test(code)) next.push({ place: place + 1, start: thread.start })
        break
    }
  }
  return false
}

/** A pattern that was compiled, with the marks that a search makes, and the last text that was searched. */
interface Regex {
  readonly program: readonly Instruction[]
  /** What every match begins with; null = not known. */
  readonly first: Test | null
  readonly visited: Int32Array
  text: string | null
  found: string
}

/** Longer texts are not kept: two hundred patterns would keep two hundred of them. */
const KEPT_MAX = 1000

const regexOf = memo(200, (pattern): Regex => {
  const program = new Compiler(pattern).compile()
  const [start] = program
  const first = start?.op === 'char' ? start.test : null
  return { program, first, visited: new Int32Array(program.length), text: null, found: '' }
})

type Node =
  | { readonly kind: 'empty' }
  | { readonly kind: 'char'; readonly test: Test }
  | { readonly kind: 'assert'; readonly holds: (text: string, at: number) => boolean }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Node[] }
  | {
      readonly kind: 'repeat'
      readonly part: Node
      readonly min: number
      readonly max: number
      readonly lazy: boolean
    }

const isDigit: Test = (code) => code >= 48 && code <= 57
const isWord: Test = (code) =>
  isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95
const isSpace: Test = (code) => code === 32 || (code >= 9 && code <= 13)
const isHorizontal = unicode('[\\t\\p{Zs}]')
const not =
  (test: Test): Test =>
  (code) =>
    !test(code)
const CLASSES: Readonly<Record<string, Test>> = {
  d: isDigit,
  D: not(isDigit),
  w: isWord,
  W: not(isWord),
  s: isSpace,
  S: not(isSpace),
  h: isHorizontal,
  H: not(isHorizontal),
}
const CONTROLS: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, f: 12, a: 7, e: 27, '0': 0 }
const UNICODE_CLASSES: Readonly<Record<string, Test>> = {
  ...CLASSES,
  d: unicode('\\p{Nd}'),
  D: unicode('\\P{Nd}'),
  w: unicode('[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]'),
  W: unicode('[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]'),
  s: unicode('\\p{White_Space}'),
  S: unicode('\\P{White_Space}'),
}
const POSIX: Readonly<Record<string, Test>> = {
  Alpha: (code) => isWord(code) && !isDigit(code) && code !== 95,
  Digit: isDigit,
  Alnum: (code) => isWord(code) && code !== 95,
  Upper: (code) => code >= 65 && code <= 90,
  Lower: (code) => code >= 97 && code <= 122,
  Punct: (code) => code > 32 && code < 127 && (!isWord(code) || code === 95),
  Graph: (code) => code > 32 && code < 127,
  Print: (code) => code >= 32 && code < 127,
  Blank: (code) => code === 32 || code === 9,
  Cntrl: (code) => code < 32 || code === 127,
  XDigit: (code) => isDigit(code) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102),
  Space: isSpace,
  ASCII: (code) => code < 128,
}
/** Unicode blocks that text on charts is made of: first and last code. */
const BLOCKS: Readonly<Record<string, readonly [number, number]>> = {
  BasicLatin: [0, 0x7f],
  'Latin-1Supplement': [0x80, 0xff],
  Greek: [0x370, 0x3ff],
  GreekandCoptic: [0x370, 0x3ff],
  Cyrillic: [0x400, 0x4ff],
  GeneralPunctuation: [0x2000, 0x206f],
  CurrencySymbols: [0x20a0, 0x20cf],
  Arrows: [0x2190, 0x21ff],
  MathematicalOperators: [0x2200, 0x22ff],
  BoxDrawing: [0x2500, 0x257f],
  GeometricShapes: [0x25a0, 0x25ff],
  MiscellaneousSymbols: [0x2600, 0x26ff],
  Dingbats: [0x2700, 0x27bf],
}

function unicode(source: string): Test {
  const regex = new RegExp(source, 'u')
  return (code) => regex.test(String.fromCharCode(code))
}

/** `\p{name}`, `\p{key=name}`: a class of POSIX, a block (`In…`), a script (`Is…`) or a category; null = none such. */
function propertyOf(key: string, name: string): Test | null {
  if (key === '' && Object.hasOwn(POSIX, name)) return POSIX[name] ?? null
  const block = key === 'Block' || key === 'blk' ? name : key === '' ? /^In(.+)/.exec(name)?.[1] : undefined
  if (block !== undefined) {
    const range = Object.hasOwn(BLOCKS, block) ? BLOCKS[block] : undefined
    return range ? (code) => code >= range[0] && code <= range[1] : null
  }
  const script = /^(?:Script|sc)$/.test(key) ? name : key === '' ? /^Is(.+)/.exec(name)?.[1] : undefined
  for (const source of [
    ...(script !== undefined ? [`Script=${script}`, `gc=${script}`, script] : []),
    ...(/^(?:gc|general_category)?$/.test(key) && /^[A-Z][a-z]?$/.test(name) ? [`gc=${name}`] : []),
  ]) {
    try {
      return unicode(`\\p{${source}}`)
    } catch {
      // No such script; it may be a category.
    }
  }
  return null
}

type Flags = readonly [
  ignoreCase: boolean,
  multiline: boolean,
  dotAll: boolean,
  unicode: boolean,
  verbose: boolean,
]

/** Recursive descent: choice → sequence → repeat → atom; then code for the tree. */
class Compiler {
  readonly #pattern: string
  #at = 0
  #ignoreCase = false
  #multiline = false
  #dotAll = false
  /** `(?U)`: classes take in what is not ASCII. */
  #unicode = false
  /** `(?x)`: white space and comments mean nothing. */
  #verbose = false
  #program: Instruction[] = []
  #steps = 0
  #depth = 0

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  compile(): readonly Instruction[] {
    const tree = this.#choice()
    if (this.#at < this.#pattern.length) throw this.#wrong(`unexpected '${this.#peek}'`)
    this.#emit(tree)
    this.#push({ op: 'match' })
    return this.#program
  }

  get #flags(): Flags {
    return [this.#ignoreCase, this.#multiline, this.#dotAll, this.#unicode, this.#verbose]
  }
  set #flags(flags: Flags) {
    ;[this.#ignoreCase, this.#multiline, this.#dotAll, this.#unicode, this.#verbose] = flags
  }

  /** White space and comments, where they mean nothing. */
  #skip(): void {
    if (!this.#verbose) return
    this.#at += /^(?:\s|#[^\n]*)*/.exec(this.#pattern.slice(this.#at))?.[0].length ?? 0
  }

  get #peek(): string {
    return this.#pattern[this.#at] ?? ''
  }

  #eat(text: string): boolean {
    if (!this.#pattern.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #wrong(what: string): ScriptError {
    return invalidRegex(this.#pattern, what)
  }

  #choice(): Node {
    if (++this.#depth > DEPTH_MAX) throw this.#wrong('its groups are nested too deep')
    const parts = [this.#sequence()]
    while (this.#eat('|')) parts.push(this.#sequence())
    this.#depth--
    return parts.length === 1 ? parts[0]! : { kind: 'choice', parts }
  }

  #sequence(): Node {
    const parts: Node[] = []
    for (;;) {
      this.#skip()
      if (this.#at >= this.#pattern.length || this.#peek === '|' || this.#peek === ')') break
      parts.push(this.#repeat())
    }
    return { kind: 'sequence', parts }
  }

  #repeat(): Node {
    let part = this.#atom()
    for (;;) {
      this.#skip()
      let min: number
      let max: number
      if (this.#eat('*')) [min, max] = [0, Infinity]
      else if (this.#eat('+')) [min, max] = [1, Infinity]
      else if (this.#eat('?')) [min, max] = [0, 1]
      else {
        const counts = /^\{(\d+)(,(\d*))?\}/.exec(this.#pattern.slice(this.#at, this.#at + 20))
        if (counts === null) return part
        this.#at += counts[0].length
        min = Number(counts[1])
        max = counts[2] === undefined ? min : counts[3] === '' ? Infinity : Number(counts[3])
      }
      const lazy = this.#eat('?')
      // A possessive quantifier only forbids going back, which here costs nothing: taken as greedy.
      if (!lazy) this.#eat('+')
      part = { kind: 'repeat', part, min, max, lazy }
    }
  }

  #atom(): Node {
    const char = this.#peek
    this.#at++
    switch (char) {
      case '(':
        return this.#group()
      case '[':
        return { kind: 'char', test: this.#class() }
      case '.': {
        const dotAll = this.#dotAll
        return { kind: 'char', test: (code) => dotAll || (code !== 10 && code !== 13) }
      }
      case '^': {
        const multiline = this.#multiline
        return { kind: 'assert', holds: (text, at) => at === 0 || (multiline && text[at - 1] === '\n') }
      }
      case '$': {
        const multiline = this.#multiline
        return {
          kind: 'assert',
          holds: (text, at) =>
            at === text.length ||
            (at === text.length - 1 && text[at] === '\n') ||
            (multiline && text[at] === '\n'),
        }
      }
      case '\\':
        return this.#escape()
      case '*':
      case '+':
      case '?':
        throw this.#wrong(`nothing to repeat before '${char}'`)
      default:
        return this.#literal(char.charCodeAt(0))
    }
  }

  #group(): Node {
    const before = this.#flags
    const around = /^\?<?[=!]/.exec(this.#pattern.slice(this.#at, this.#at + 3))?.[0]
    if (around !== undefined) {
      this.#at += around.length
      return this.#around(this.#enclosed(before), around.includes('<'), around.endsWith('!'))
    }
    if (this.#eat('?')) {
      const flags = /^(?:P?<[A-Za-z]\w*>|[a-zA-Z]*(?:-[a-zA-Z]+)?[:)]|:|>)/.exec(
        this.#pattern.slice(this.#at),
      )
      if (flags === null) throw this.#wrong("nothing known follows '(?'")
      this.#at += flags[0].length
      if (!flags[0].includes('<')) this.#setFlags(flags[0])
      if (flags[0].endsWith(')')) return { kind: 'empty' }
    }
    return this.#enclosed(before)
  }

  /** Up to the `)`, behind which the flags are again what they were before the `(`. */
  #enclosed(before: Flags): Node {
    const inner = this.#choice()
    if (!this.#eat(')')) throw this.#wrong("a ')' is missing")
    this.#flags = before
    return inner
  }

  /** `(?<=…)`, `(?<!…)`, `(?=…)` and `(?!…)`. */
  #around(inner: Node, isBehind: boolean, isNot: boolean): Node {
    const outer = this.#program
    this.#program = []
    this.#emit(isBehind ? inner : turned(inner))
    this.#push({ op: 'match' })
    const program = this.#program
    this.#program = outer
    let known: { readonly text: string; readonly places: Uint8Array } | null = null
    const holds = (text: string, at: number): boolean => {
      if (known?.text !== text) known = { text, places: placesOf(program, text, !isBehind) }
      return (known.places[at] === 1) !== isNot
    }
    return { kind: 'assert', holds }
  }

  #setFlags(text: string): void {
    const [on = '', off = ''] = text.replace(/[:)>]$/, '').split('-')
    for (const [flags, value] of [[on, true] as const, [off, false] as const]) {
      if (flags.includes('i')) this.#ignoreCase = value
      if (flags.includes('m')) this.#multiline = value
      if (flags.includes('s')) this.#dotAll = value
      if (flags.includes('U')) this.#unicode = value
      if (flags.includes('x')) this.#verbose = value
    }
  }

  #literal(code: number): Node {
    return { kind: 'char', test: this.#sameLetter((other) => other === code) }
  }

  #sameLetter(test: Test): Test {
    if (!this.#ignoreCase) return test
    return (code) => {
      const char = String.fromCharCode(code)
      return test(code) || test(char.toLowerCase().charCodeAt(0)) || test(char.toUpperCase().charCodeAt(0))
    }
  }

  #escape(): Node {
    const char = this.#peek
    switch (char) {
      case 'b':
      case 'B': {
        this.#at++
        const isBoundary = (text: string, at: number) =>
          (at > 0 && isWord(text.charCodeAt(at - 1))) !== (at < text.length && isWord(text.charCodeAt(at)))
        return { kind: 'assert', holds: char === 'b' ? isBoundary : (text, at) => !isBoundary(text, at) }
      }
      case 'A':
        this.#at++
        return { kind: 'assert', holds: (_text, at) => at === 0 }
      case 'z':
        this.#at++
        return { kind: 'assert', holds: (text, at) => at === text.length }
      case 'Z':
        this.#at++
        return {
          kind: 'assert',
          holds: (text, at) => at === text.length || (at === text.length - 1 && text[at] === '\n'),
        }
      case 'Q': {
        const end = this.#pattern.indexOf('\\E', this.#at + 1)
        const quoted = this.#pattern.slice(this.#at + 1, end < 0 ? undefined : end)
        this.#at = end < 0 ? this.#pattern.length : end + 2
        return {
          kind: 'sequence',
          parts: Array.from({ length: quoted.length }, (_, i) => this.#literal(quoted.charCodeAt(i))),
        }
      }
      default:
        if (/[1-9k]/.test(char)) throw this.#wrong('back references are not supported')
        return { kind: 'char', test: this.#escapedTest() }
    }
  }

  /** After a backslash, inside or outside of a class. */
  #escapedTest(): Test {
    const char = this.#peek
    this.#at++
    if (char === '') throw this.#wrong('it ends with a backslash')
    const named = (this.#unicode ? UNICODE_CLASSES : CLASSES)[char]
    if (named !== undefined && Object.hasOwn(CLASSES, char)) return named
    if (char === 'p' || char === 'P') {
      const name = /^\{(\w+=)?([\w-]+)\}|^(\w)/.exec(this.#pattern.slice(this.#at))
      const test = name && propertyOf((name[1] ?? '').slice(0, -1), name[2] ?? name[3] ?? '')
      if (!name || !test) throw this.#wrong(`unknown property '\\p${name?.[0] ?? ''}'`)
      this.#at += name[0].length
      return char === 'p' ? test : not(test)
    }
    const code = this.#escapedCode(char)
    return this.#sameLetter((other) => other === code)
  }

  #escapedCode(char: string): number {
    const hex = (
      char === 'x' ? /^(?:[\da-fA-F]{2}|\{[\da-fA-F]+\})/ : char === 'u' ? /^[\da-fA-F]{4}/ : null
    )?.exec(this.#pattern.slice(this.#at))
    if (hex) {
      this.#at += hex[0].length
      return Number.parseInt(hex[0].replace('{', ''), 16)
    }
    return Object.hasOwn(CONTROLS, char) ? CONTROLS[char]! : char.charCodeAt(0)
  }

  #class(): Test {
    if (++this.#depth > DEPTH_MAX) throw this.#wrong('its classes are nested too deep')
    const negated = this.#eat('^')
    const tests: Test[] = []
    let isFirst = true
    while (isFirst || this.#peek !== ']') {
      isFirst = false
      if (this.#verbose && /\s/.test(this.#peek)) {
        this.#at++
        continue
      }
      if (this.#at >= this.#pattern.length) throw this.#wrong("a ']' is missing")
      if (this.#eat('[')) {
        tests.push(this.#class())
        continue
      }
      if (this.#eat('&&')) {
        const left = tests.splice(0)
        const right = this.#eat('[') ? this.#class() : this.#classRest()
        tests.push((code) => left.some((test) => test(code)) && right(code))
        continue
      }
      tests.push(this.#classItem())
    }
    this.#at++
    this.#depth--
    const any: Test = (code) => {
      for (const test of tests) if (test(code)) return true
      return false
    }
    return negated ? not(any) : any
  }

  /** What follows `&&` without brackets, up to the class's end. */
  #classRest(): Test {
    const tests: Test[] = []
    while (this.#at < this.#pattern.length && this.#peek !== ']') tests.push(this.#classItem())
    return (code) => tests.some((test) => test(code))
  }

  #classItem(): Test {
    const start = this.#peek
    this.#at++
    let low: number
    if (start === '\\') {
      const escaped = this.#peek
      if (Object.hasOwn(CLASSES, escaped) || escaped === 'p' || escaped === 'P') return this.#escapedTest()
      this.#at++
      low = this.#escapedCode(escaped)
    } else low = start.charCodeAt(0)
    if (this.#peek !== '-' || (this.#pattern[this.#at + 1] ?? ']') === ']')
      return this.#sameLetter((code) => code === low)
    this.#at++
    const end: string = this.#peek
    this.#at++
    let high = end.charCodeAt(0)
    if (end === '\\') {
      const escaped = this.#peek
      this.#at++
      high = this.#escapedCode(escaped)
    }
    if (high < low) throw this.#wrong(`the range '${start}-${end}' runs backwards`)
    return this.#sameLetter((code) => code >= low && code <= high)
  }

  #push(instruction: Instruction): number {
    if (this.#program.length >= PROGRAM_MAX) throw this.#wrong('it is too long; use smaller repeat counts')
    return this.#program.push(instruction) - 1
  }

  #emit(node: Node): void {
    if (++this.#steps > STEPS_MAX) throw this.#wrong('it is too long; use smaller repeat counts')
    switch (node.kind) {
      case 'empty':
        return
      case 'char':
        this.#push({ op: 'char', test: node.test })
        return
      case 'assert':
        this.#push({ op: 'assert', holds: node.holds })
        return
      case 'sequence':
        for (const part of node.parts) this.#emit(part)
        return
      case 'choice':
        this.#emitChoice(node.parts)
        return
      case 'repeat':
        for (let i = 0; i < node.min; i++) this.#emit(node.part)
        if (node.max === Infinity) this.#emitLoop(node.part, node.lazy)
        else for (let i = node.min; i < node.max; i++) this.#emitOptional(node.part, node.lazy)
    }
  }

  #emitChoice(parts: readonly Node[]): void {
    const ends: { to: number }[] = []
    parts.forEach((part, i) => {
      if (i === parts.length - 1) {
        this.#emit(part)
        return
      }
      const split = { op: 'split' as const, first: 0, second: 0 }
      split.first = this.#push(split) + 1
      this.#emit(part)
      const jump = { op: 'jump' as const, to: 0 }
      split.second = this.#push(jump) + 1
      ends.push(jump)
    })
    for (const jump of ends) jump.to = this.#program.length
  }

  #emitLoop(part: Node, lazy: boolean): void {
    const split = { op: 'split' as const, first: 0, second: 0 }
    const top = this.#push(split)
    this.#emit(part)
    const after = this.#push({ op: 'jump', to: top }) + 1
    split.first = lazy ? after : top + 1
    split.second = lazy ? top + 1 : after
  }

  #emitOptional(part: Node, lazy: boolean): void {
    const split = { op: 'split' as const, first: 0, second: 0 }
    const top = this.#push(split)
    this.#emit(part)
    const after = this.#program.length
    split.first = lazy ? after : top + 1
    split.second = lazy ? top + 1 : after
  }
}

/** What matches the same text read from its end. */
function turned(node: Node): Node {
  switch (node.kind) {
    case 'sequence':
      return { ...node, parts: node.parts.toReversed().map(turned) }
    case 'choice':
      return { ...node, parts: node.parts.map(turned) }
    case 'repeat':
      return { ...node, part: turned(node.part) }
    default:
      return node
  }
}
