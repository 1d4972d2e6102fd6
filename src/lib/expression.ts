// A small language for conditions and sums over named numbers: `fast < slow and slow <= 200`, `netProfit /
// maxDrawdown`.
//
// It has names, numbers, 'texts', true, false; + - * / % ^, comparisons, and, or, not; min max abs sqrt log exp round
// floor ceil. A name with blanks in it is written in double quotes: "Fast length" < "Slow length". A text is parsed
// once (precedence climbing) into a closure and never run as code. An unknown value counts as no number: every
// comparison with it is false.

export type Value = number | string | boolean | null
type Lookup = (name: string) => Value

export interface Expression {
  /** The names that the expression uses, each once. */
  readonly names: readonly string[]
  evaluate(lookup: Lookup): Value
}

/** Says what is wrong with a text, and where (counted from 1). */
export class ExpressionError extends Error {
  readonly column: number
  constructor(column: number, message: string) {
    super(message)
    this.column = column
  }
}

type Evaluate = (lookup: Lookup) => Value
interface Token {
  readonly kind: 'number' | 'text' | 'name' | 'sign' | 'end'
  readonly text: string
  readonly at: number
}

const TEXT_MAX = 2000
const DEPTH_MAX = 60

const TOKEN =
  /\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)|'([^']*)'|"([^"]*)"|([\p{L}_][\p{L}\p{N}_.]*)|(<=|>=|==|!=|&&|\|\||[-+*/%^<>(),!=]))/uy

const FUNCTIONS: Readonly<Record<string, (...args: number[]) => number>> = {
  min: Math.min,
  max: Math.max,
  abs: Math.abs,
  sqrt: Math.sqrt,
  log: Math.log,
  exp: Math.exp,
  round: Math.round,
  floor: Math.floor,
  ceil: Math.ceil,
}

/** How tightly each operator binds; operators of equal strength are taken from left to right. */
const BINARY: Readonly<Record<string, readonly [number, (a: Value, b: Value) => Value]>> = {
  or: [1, (a, b) => isTrue(a) || isTrue(b)],
  '||': [1, (a, b) => isTrue(a) || isTrue(b)],
  and: [2, (a, b) => isTrue(a) && isTrue(b)],
  '&&': [2, (a, b) => isTrue(a) && isTrue(b)],
  '=': [4, (a, b) => a !== null && a === b],
  '==': [4, (a, b) => a !== null && a === b],
  '!=': [4, (a, b) => a !== null && b !== null && a !== b],
  '<': [4, (a, b) => numberOf(a) < numberOf(b)],
  '<=': [4, (a, b) => numberOf(a) <= numberOf(b)],
  '>': [4, (a, b) => numberOf(a) > numberOf(b)],
  '>=': [4, (a, b) => numberOf(a) >= numberOf(b)],
  '+': [5, (a, b) => numberOf(a) + numberOf(b)],
  '-': [5, (a, b) => numberOf(a) - numberOf(b)],
  '*': [6, (a, b) => numberOf(a) * numberOf(b)],
  '/': [6, (a, b) => numberOf(a) / numberOf(b)],
  '%': [6, (a, b) => numberOf(a) % numberOf(b)],
}

/** Throws ExpressionError. */
export function parseExpression(text: string): Expression {
  if (text.length > TEXT_MAX) throw new ExpressionError(1, `It is longer than ${TEXT_MAX} characters.`)
  const parser = new Parser(tokensOf(text))
  const evaluate = parser.whole()
  return { names: [...parser.names], evaluate }
}

/** The value as a number: true is 1; texts, null and infinities are NaN. */
export function numberIn(value: Value): number {
  const number = numberOf(value)
  return Number.isFinite(number) ? number : NaN
}

export const isTrue = (value: Value): boolean =>
  value === true || (typeof value === 'number' && value !== 0 && !Number.isNaN(value))

function numberOf(value: Value): number {
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'number' ? value : NaN
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  for (;;) {
    TOKEN.lastIndex = at
    const match = TOKEN.exec(text)
    if (!match) break
    const [whole, number, single, double, name, sign] = match
    const start = at + whole.search(/\S/)
    if (number !== undefined) tokens.push({ kind: 'number', text: number, at: start })
    else if (single !== undefined) tokens.push({ kind: 'text', text: single, at: start })
    else if (double !== undefined) tokens.push({ kind: 'name', text: double, at: start })
    else if (name !== undefined) {
      const isWord = name === 'and' || name === 'or' || name === 'not'
      tokens.push({ kind: isWord ? 'sign' : 'name', text: name, at: start })
    } else tokens.push({ kind: 'sign', text: sign ?? '', at: start })
    at = TOKEN.lastIndex
  }
  const rest = text.slice(at).trimStart()
  if (rest !== '')
    throw new ExpressionError(
      text.length - rest.length + 1,
      `"${String.fromCodePoint(rest.codePointAt(0) ?? 0)}" was not expected.`,
    )
  return [...tokens, { kind: 'end', text: '', at: text.length }]
}

class Parser {
  readonly names = new Set<string>()
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  whole(): Evaluate {
    const evaluate = this.#binary(0)
    if (this.#peek.kind !== 'end') throw this.#unexpected('an operator or the end')
    return evaluate
  }

  get #peek(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '', at: 0 }
  }

  #isSign(...texts: readonly string[]): boolean {
    return this.#peek.kind === 'sign' && texts.includes(this.#peek.text)
  }

  #unexpected(expected: string): ExpressionError {
    const { kind, text, at } = this.#peek
    const found = kind === 'end' ? 'the end' : `"${text}"`
    return new ExpressionError(at + 1, `Expected ${expected}, found ${found}.`)
  }

  #binary(least: number): Evaluate {
    if (++this.#depth > DEPTH_MAX) throw new ExpressionError(this.#peek.at + 1, 'It is nested too deep.')
    let left = this.#unary()
    for (;;) {
      const operator =
        this.#peek.kind === 'sign' && Object.hasOwn(BINARY, this.#peek.text)
          ? BINARY[this.#peek.text]
          : undefined
      if (!operator || operator[0] <= least) break
      this.#at++
      const [binds, combine] = operator
      const [a, b] = [left, this.#binary(binds)]
      left = (lookup) => combine(a(lookup), b(lookup))
    }
    this.#depth--
    return left
  }

  #unary(): Evaluate {
    if (this.#isSign('-', '+')) {
      const sign = this.#peek.text === '-' ? -1 : 1
      this.#at++
      const operand = this.#binary(6)
      return (lookup) => sign * numberOf(operand(lookup))
    }
    if (this.#isSign('not', '!')) {
      this.#at++
      const operand = this.#binary(3)
      return (lookup) => !isTrue(operand(lookup))
    }
    return this.#power()
  }

  #power(): Evaluate {
    const base = this.#primary()
    if (!this.#isSign('^')) return base
    this.#at++
    const exponent = this.#unary()
    return (lookup) => numberOf(base(lookup)) ** numberOf(exponent(lookup))
  }

  #primary(): Evaluate {
    const { kind, text } = this.#peek
    if (this.#isSign('(')) {
      this.#at++
      const inner = this.#binary(0)
      this.#close()
      return inner
    }
    if (kind !== 'number' && kind !== 'text' && kind !== 'name') throw this.#unexpected('a value')
    this.#at++
    if (kind === 'number') {
      const value = Number(text)
      return () => value
    }
    if (kind === 'text') return () => text
    if (text === 'true' || text === 'false') return () => text === 'true'
    if (this.#isSign('(')) return this.#call(text)
    this.names.add(text)
    return (lookup) => lookup(text)
  }

  #call(name: string): Evaluate {
    const call = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
    if (!call)
      throw new ExpressionError(
        this.#peek.at + 1,
        `There is no function ${name}: there are ${Object.keys(FUNCTIONS).join(', ')}.`,
      )
    this.#at++
    const args = [this.#binary(0)]
    while (this.#isSign(',')) {
      this.#at++
      args.push(this.#binary(0))
    }
    this.#close()
    return (lookup) => call(...args.map((arg) => numberOf(arg(lookup))))
  }

  #close(): void {
    if (!this.#isSign(')')) throw this.#unexpected('")"')
    this.#at++
  }
}
