// What the generator gathers while it writes: lines of JavaScript with the source offset each comes from, constants the
// text refers to by number, frames with the state of call sites, columns.
//
// Nothing of the script's own spelling gets into the text: variables are v12, functions f7, columns c3, constants k5.

import type { Block, BuiltinCallExpr, Expr, FunctionInstance, Program, Variable } from '../2-check/program.ts'
import type { Type, Udt } from '../2-check/types.ts'
import { walkBlock } from '../2-check/walk.ts'
import { repeatedCalls } from '../3-plan/repeated.ts'
import { shortLivedCalls } from '../3-plan/short-lived.ts'
import { WHOLE, type Code, type CodePart } from './code.ts'
import { BLOCK, roomOf, type TrackSpec } from '../runtime/executable.ts'
import { columnKind, type PlannedColumn, type Plan } from '../3-plan/plan.ts'

/** A line and the offset in the script it stands for; -1 = none. */
interface Line {
  readonly code: string | Code
  readonly offset: number
}

export class Writer {
  readonly lines: Line[] = []

  line(code: string | Code, offset = -1): void {
    this.lines.push({ code, offset })
  }
  append(other: Writer): void {
    for (const line of other.lines) this.lines.push(line)
  }
  toText(): string {
    let text = ''
    for (const { code } of this.lines) text += `${typeof code === 'string' ? code : code.toText()}\n`
    return text
  }
}

/**
 * The state of a body: of the script (G), of a function's call site (F) or of the hoisted calls (H). A class with one
 * field a state, so that the engine sees one shape.
 */
export class Frame {
  readonly name: string
  readonly fields: { readonly name: string; readonly init: string }[] = []
  /** Fields that a rollback leaves alone. */
  readonly varip: string[] = []
  readonly #names = new Set<string>()
  /** Frames below it, by the number of objects they make: calls of calls multiply. */
  size = 1

  constructor(name: string) {
    this.name = name
  }

  field(name: string, init: string): string {
    if (!this.#names.has(name)) {
      this.#names.add(name)
      this.fields.push({ name, init })
    }
    return name
  }

  /** The frame of a call made from here. */
  child(site: number, frame: Frame): string {
    const name = `f${site}`
    if (!this.#names.has(name)) this.size += frame.size
    return this.field(name, `new ${frame.name}(P+"/${site}",R)`)
  }
}

/** The body that is being written: the script's, a function's, or a loop's that computes ahead. */
export interface Body {
  readonly frame: Frame
  /** The text that names the frame: G or F. */
  readonly state: 'G' | 'F'
  readonly fn: FunctionInstance | null
  readonly out: Writer
  /** In a hoisted loop: candidates are columns there, never locals. */
  readonly hoisted: boolean
}

export interface RequestSpec {
  readonly site: number
  readonly wanted: Expr
}

export interface EmittedFunction {
  readonly name: string
  readonly frame: Frame
}

/** Calls of the script's functions on one bar; where there may be more, each is counted like a round of a loop. */
const CALLS_MAX = 10_000

/** How often functions are called on a bar, loops aside. Functions come before those that call them. */
function callsABar({ functions, body }: Program): number {
  if (functions.length === 0) return 0
  const known = new Map<FunctionInstance, number>()
  const countIn = (block: Block): number => {
    let calls = 0
    walkBlock(block, (expr) => {
      if (expr.kind === 'UserCall') calls += 1 + (known.get(expr.fn) ?? 0)
    })
    return calls
  }
  for (const fn of functions) known.set(fn, countIn(fn.body))
  return countIn(body)
}

/** Takes a block's value and writes the line that uses it; `offset` is where the value itself stands. */
export type Sink = (value: CodePart, offset?: number) => void

/**
 * What all else leads back to: a call has expressions in it, an expression calls functions or has blocks, and these have
 * expressions. Files import what stands below them, and reach these three through the module.
 */
export interface Writers {
  readonly expression: (module: Module, expr: Expr, into: Body) => Code
  readonly block: (module: Module, block: Block, into: Body, sink: Sink | null) => void
  readonly functionOf: (module: Module, fn: FunctionInstance) => EmittedFunction
}

export class Module {
  readonly writers: Writers
  readonly program: Program
  readonly plan: Plan
  readonly constants: unknown[] = []
  readonly #constantNames = new Map<unknown, string>()
  /** Columns of the plan and those the generator adds. */
  readonly columns: PlannedColumn[]
  readonly barColumns = new Set<string>()
  readonly sources = new Set<number>()
  readonly inputs = new Set<number>()
  readonly moduleVariables = new Map<number, string>()
  readonly fixed = new Writer()
  /** The objects that hold arguments, by the calls that are handed them. */
  readonly requestObjects = new Map<BuiltinCallExpr, string>()
  /** Variables of calls whose last result serves again. */
  readonly spares = new Set<string>()
  readonly functions = new Writer()
  readonly literals = new Writer()
  readonly frames: Frame[] = []
  readonly main = new Frame('MainFrame')
  readonly hoistFrame = new Frame('HoistFrame')
  readonly emitted = new Map<FunctionInstance, EmittedFunction>()
  readonly udts = new Map<Udt, string>()
  readonly tracks: TrackSpec[] = []
  readonly trackOfSite = new Map<number, number>()
  /** Calls of request.security(), each of which needs a slice of the script. */
  readonly requests: RequestSpec[] = []
  /** The columns of the values that a slice is wanted for. */
  readonly results: PlannedColumn[] = []
  /** Values computed once a run, by what they are. */
  readonly once = new Map<string, string>()
  /** Whether rounds of loops are counted in the body, and in functions, which go on with the count of the body's. */
  usesLoops = false
  loopsInFunctions = false
  /** Columns of arrays and matrices whose past is read, which are copied at the end of each bar. */
  readonly pastColumns = new Set<PlannedColumn>()
  #touched = ''
  /** Functions that call functions that call functions make a loop too: a bar of them may never end. */
  readonly countsCalls: boolean
  #repeated: ReadonlySet<Expr> | null = null
  #shortLived: ReadonlySet<Expr> | null = null
  functionCount = 0
  readonly #literals = new Map<string, string>()
  #temporaries = 0

  constructor(plan: Plan, writers: Writers) {
    this.writers = writers
    this.plan = plan
    this.program = plan.program
    this.columns = [...plan.columns]
    this.countsCalls = callsABar(plan.program) > CALLS_MAX
  }

  /** Calls that one bar may execute more than once. Most scripts never ask. */
  get repeated(): ReadonlySet<Expr> {
    return (this.#repeated ??= repeatedCalls(this.program))
  }

  /** Calls whose last result may serve again. */
  get shortLived(): ReadonlySet<Expr> {
    return (this.#shortLived ??= shortLivedCalls(this.program))
  }

  readonly #kept = new Set<number>()
  readonly #backs = new Map<number, number>()
  /** Columns that are kept as a whole although nobody reads their past. */
  readonly wholeAnyway = new Set<number>()

  /** Marks the column as one that is kept for all bars, since it is shown or read by others: from where a run is kept, `back` bars. */
  keep(column: PlannedColumn, back = 0): void {
    this.#kept.add(column.index)
    this.#readBack(column, back)
  }
  /** Marks the column as one whose past the script reads, at most `back` bars of it; Infinity = nobody knows. */
  readPast(column: PlannedColumn, back: number): void {
    if (back > BLOCK || column.kind === 'any') this.keep(column, back)
    else this.#readBack(column, back)
  }
  #readBack({ index }: PlannedColumn, back: number): void {
    this.#backs.set(index, Math.max(back, this.backOf(index)))
  }
  isKept(index: number): boolean {
    return this.#kept.has(index)
  }
  /** What an index into the column is masked with. Not known before everything has been written. */
  maskOf(index: number): number {
    if (this.isKept(index) || this.wholeAnyway.has(index)) return WHOLE
    return roomOf(this.backOf(index)) - 1
  }
  /** How far back the script reads a column, in bars; Infinity = nobody knows. */
  backOf(index: number): number {
    return this.#backs.get(index) ?? 0
  }

  /** The set of buffers of arrays and matrices that are put into on a bar: `settle` copies what they hold at its end. */
  get touched(): string {
    if (this.#touched === '') {
      this.#touched = 'P'
      this.fixed.line(`const P=new ${this.constant(Set)}();`)
    }
    return this.#touched
  }
  /** Whether bars end with copies of arrays or matrices. */
  get copiesPast(): boolean {
    return this.#touched !== '' || this.pastColumns.size > 0
  }

  constant(value: unknown): string {
    let name = this.#constantNames.get(value)
    if (name === undefined) {
      name = `k${this.constants.length}`
      this.constants.push(value)
      this.#constantNames.set(value, name)
    }
    return name
  }

  /** The function that makes an object, whose text is given, of the values `v`, a bar, and a list of no changes. */
  literalOf(text: string): string {
    let name = this.#literals.get(text)
    if (name === undefined) {
      name = `d${this.#literals.size}`
      this.#literals.set(text, name)
      this.literals.line(`function ${name}(v,bar,unchanged){return ${text};}`)
    }
    return name
  }

  newColumn(type: Type): PlannedColumn {
    const column = { index: this.columns.length, kind: columnKind(type) }
    this.columns.push(column)
    return column
  }

  temporary(): string {
    return `t${this.#temporaries++}`
  }

  bar(name: string): string {
    this.barColumns.add(name)
    return `$${name}`
  }

  /** Bools have a third state before version 6. */
  get threeState(): boolean {
    return this.program.version < 6
  }

  naOf(type: Type): string {
    switch (type.kind) {
      case 'int':
      case 'float':
      case 'color':
      case 'na':
        return 'NaN'
      case 'bool':
        return this.threeState ? 'null' : 'false'
      case 'tuple':
        return `[${type.items.map((item) => this.naOf(item)).join(',')}]`
      default:
        return 'null'
    }
  }

  /** Replaces an argument that was not given by na of its type. */
  missing(expr: BuiltinCallExpr, index: number): string {
    const type = expr.overload.parameters[index]?.types[0]
    if (!type) return 'null'
    if (type.kind === 'variable') {
      const given = expr.typeArguments[type.name === 'V' ? 1 : 0]
      return given ? this.naOf(given) : 'null'
    }
    return type.kind === 'bool' || type.kind === 'any' ? 'null' : this.naOf(type as Type)
  }

  udt(udt: Udt): string {
    let name = this.udts.get(udt)
    if (name === undefined) this.udts.set(udt, (name = `U${this.udts.size}`))
    return name
  }
}

export function variableName(variable: Variable): string {
  return `v${variable.id}`
}

/** A JavaScript literal. Line separators are escaped, so that no string can end a line of the text. */
export function literal(value: string | number | boolean | null): string {
  if (typeof value === 'string')
    return JSON.stringify(value).replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`)
  if (typeof value === 'number') {
    if (Number.isNaN(value)) return 'NaN'
    if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '(-Infinity)'
    return value < 0 || Object.is(value, -0)
      ? `(${Object.is(value, -0) ? '-0' : String(value)})`
      : String(value)
  }
  return String(value)
}
