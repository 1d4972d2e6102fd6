// The plan: where every value of a program lives and when it is computed.
//
// A script is a function of one bar that is called for each bar. Much of it does not need to be: `ta.sma(close, 10)`
// at the top level is a column that can be computed in one tight loop before the script's own loop starts. Such
// expressions have a *rank*:
//
//     fixed    the same on every bar (constants, inputs, syminfo.*): computed once a run
//     column   a function of bar columns and fixed values: computed a block of bars at a time, or inline where cheap
//     dynamic  everything else: computed where it stands, bar by bar
//
// A call with state (ta.*) is a column only where the script executes it on every bar; under a condition its state must
// advance on the executed bars alone. Results nobody reads are dropped. Measured on an SMA cross with fills and equity:
// state advanced bar by bar 26 M bars/s, hoisted columns 67 M, a hand-written loop 65 M.

import { assert } from '../../lib/assert.ts'
import { placeOf } from '../2-check/argument.ts'
import type {
  Block,
  BuiltinCallExpr,
  BuiltinVariableExpr,
  Expr,
  FunctionInstance,
  HistoryExpr,
  Program,
  Stmt,
  Variable,
} from '../2-check/program.ts'
import type { Type } from '../2-check/types.ts'
import { eachPart } from '../2-check/walk.ts'
import { CallHistory, notableIn, type Noted } from './call-history.ts'
import { keyOf } from './key.ts'

export const RANKS = ['fixed', 'column', 'dynamic'] as const
export type Rank = (typeof RANKS)[number]

/** f64: numbers and colours; u8: bools (0, 1, 2 = na); any: everything else, a plain array. */
export type ColumnKind = 'f64' | 'u8' | 'any'

export interface PlannedColumn {
  readonly index: number
  readonly kind: ColumnKind
}

/**
 * Where a variable lives.
 * - fixed: a constant of the run
 * - column: computed ahead, one entry a bar
 * - local: a local of the code around it
 * - module: a variable all functions can see, assigned on each bar
 * - state: a field of the frame (`var`, `varip`)
 * `history`: a column by bar besides (global, top level), or a buffer of executed bars (local).
 */
export interface Storage {
  readonly place: 'fixed' | 'column' | 'local' | 'module' | 'state' | 'dropped'
  readonly column: PlannedColumn | null
  readonly history: 'none' | 'column' | 'buffer'
}

/** Something computed for a block of bars before the script's body runs over it. */
export type Hoist =
  | { readonly kind: 'call'; readonly call: StatefulExpr; readonly columns: readonly PlannedColumn[] }
  | { readonly kind: 'value'; readonly value: Expr; readonly column: PlannedColumn }

export type StatefulExpr = BuiltinCallExpr | BuiltinVariableExpr

export interface Plan {
  readonly program: Program
  readonly columns: readonly PlannedColumn[]
  /** Sorted so that each comes after those it depends on. */
  readonly hoists: readonly Hoist[]
  rankOf(expr: Expr): Rank
  storageOf(variable: Variable): Storage
  /** The columns a hoisted call fills, null when it is called where it stands. One, or one an item of a tuple. */
  columnsOf(expr: StatefulExpr): readonly PlannedColumn[] | null
  /** The column that holds an expression's value by bar (base of a history reference, a plotted value). */
  valueColumnOf(expr: Expr): PlannedColumn | null
  /** Column of a built-in variable that must be recorded at the start of each bar, because its past is read. */
  readonly recorded: ReadonlyMap<
    string,
    { readonly expr: BuiltinVariableExpr; readonly column: PlannedColumn }
  >
  /** Whether it does something besides giving its value, so that it must be neither dropped nor skipped. */
  hasEffects(expr: Expr): boolean
  /** The call a plot handle comes from (`p1 = plot(…)`). */
  originOf(variable: Variable): Expr | null
  /**
   * Columns of bools of which one is true on every bar on which the script's body does anything: it is made of nothing but ifs
   * at its top. null = it may do something on any bar.
   */
  readonly guards: readonly PlannedColumn[] | null
  /** What a variable is on every bar, where that is computed ahead; null = the script's body says it. */
  definitionOf(variable: Variable): Expr | null
  /** What a function notes at each call, because it reads its past (`call-history.ts`). */
  notedBy(fn: FunctionInstance): readonly Noted[]
}

/**
 * `hoist: false` computes everything where it stands: slow and obvious, for tests to compare with. `guard`: looks for guards,
 * each of which is a column more.
 */
export function planProgram(program: Program, { hoist = true, guard = false } = {}): Plan {
  return new Planner(program).run(hoist, guard)
}

/** How a value of a type is kept in a column. */
export function columnKind(type: Type): ColumnKind {
  switch (type.kind) {
    case 'int':
    case 'float':
    case 'color':
    case 'na':
    case 'plot':
    case 'hline':
      return 'f64'
    case 'bool':
      return 'u8'
    default:
      return 'any'
  }
}

/** Built-in functions whose call is a series to be drawn: their main argument is worth a column of its own. */
const DRAWN: ReadonlySet<string> = new Set(['plot', 'plotshape', 'plotchar', 'plotarrow'])

/** The facts of an expression: its rank, and whether it has effects. Those of a whole are those of its parts, or-ed. */
const FIXED = 0
const COLUMN = 1
const DYNAMIC = 3
const EFFECTS = 4

function isDynamic(facts: number): boolean {
  return (facts & DYNAMIC) === DYNAMIC
}

/** Expressions that are always computed where they stand. */
type Composed = Extract<
  Expr,
  { readonly kind: 'CopyObject' | 'Field' | 'If' | 'Switch' | 'For' | 'ForIn' | 'While' }
>

/** The state of the pass that ranks. */
interface Where {
  /** Executed on every bar, exactly once. */
  readonly always: boolean
  /** Executed exactly once whenever the function around it is called. */
  readonly eachCall: boolean
  /** The same place under a condition. */
  readonly sometimes: Where
}

class Sometimes implements Where {
  readonly always = false
  readonly eachCall = false
  readonly sometimes = this
}
/** Who reads a value: the script bar by bar, a loop that computes ahead, or a function. */
type Reader = 'body' | 'hoist' | 'function'

/** A hoist and its place in program order; an equal expression further up moves it there. */
interface PlacedHoist {
  order: number
  readonly hoist: Hoist
}

/** A top-level variable that is never written again and whose value is no more than a column. */
interface Candidate {
  readonly value: Expr
  readonly order: number
  used: boolean
  column: PlannedColumn | null
}

class Planner {
  readonly #program: Program
  /**
   * Order × 8 + facts of every expression but constants, which are half of a long script. One map is half the work of three.
   */
  readonly #facts = new Map<Expr, number>()
  readonly #columns: PlannedColumn[] = []
  readonly #hoists: PlacedHoist[] = []
  /** Position in program order, so that what is found late can still be put before what needs it. */
  #order = 0
  readonly #candidates = new Map<Variable, Candidate>()
  /** Variables of a hoisted tuple: which column of which call. */
  readonly #aliases = new Map<Variable, { call: StatefulExpr; item: number }>()
  readonly #calls = new Map<string, PlacedHoist & { readonly columns: readonly PlannedColumn[] }>()
  readonly #callColumns = new Map<StatefulExpr, readonly PlannedColumn[]>()
  readonly #values = new Map<Expr, PlannedColumn>()
  readonly #valuesByKey = new Map<string, PlacedHoist & { readonly column: PlannedColumn }>()
  readonly #recorded = new Map<string, { expr: BuiltinVariableExpr; column: PlannedColumn }>()
  readonly #origins = new Map<Variable, Expr>()
  readonly #globals = new Set<Variable>()
  readonly #inFunctions = new Set<Variable>()
  readonly #historyColumns = new Map<Variable, PlannedColumn>()
  readonly #visited = new Set<FunctionInstance>()
  readonly #callHistory = new CallHistory()
  /** The function whose body is being ranked or marked. */
  #fn: FunctionInstance | null = null

  constructor(program: Program) {
    this.#program = program
  }

  run(hoist: boolean, guard: boolean): Plan {
    const { body, functions } = this.#program
    const sometimes = new Sometimes()
    this.#rankBlock(body, hoist ? { always: true, eachCall: false, sometimes } : sometimes, true)
    for (const fn of functions) {
      this.#fn = fn
      this.#rankBlock(fn.body, { always: false, eachCall: true, sometimes }, false)
    }
    this.#callHistory.settle(functions)
    const guards = guard ? this.#guardsOf(body) : null
    this.#markBlock(body, 'body')
    for (const variable of this.#globals)
      if (
        variable.historyRead &&
        !this.#candidates.has(variable) &&
        !this.#aliases.has(variable) &&
        this.#callHistory.needsColumn(variable)
      )
        this.#historyColumns.set(variable, this.#newColumn(columnKind(variable.type)))
    const hoists = this.#hoists.toSorted((a, b) => a.order - b.order).map(({ hoist }) => hoist)
    const storages = new Map<Variable, Storage>()
    return {
      program: this.#program,
      columns: this.#columns,
      hoists,
      guards: this.#recorded.size === 0 ? guards : null,
      recorded: this.#recorded,
      rankOf: (expr) => this.#rank(expr),
      hasEffects: (expr) => this.#effect(expr),
      columnsOf: (expr) => this.#callColumns.get(expr) ?? null,
      valueColumnOf: (expr) => this.#values.get(expr) ?? null,
      originOf: (variable) => this.#origins.get(variable) ?? null,
      definitionOf: (variable) =>
        this.#candidates.get(variable)?.value ?? this.#aliases.get(variable)?.call ?? null,
      notedBy: (fn) => this.#callHistory.notedBy(fn),
      storageOf: (variable) => {
        let storage = storages.get(variable)
        if (!storage) storages.set(variable, (storage = this.#storage(variable)))
        return storage
      },
    }
  }

  #storage(variable: Variable): Storage {
    const candidate = this.#candidates.get(variable)
    if (candidate) {
      if (this.#rank(candidate.value) === 'fixed') return { place: 'fixed', column: null, history: 'none' }
      if (candidate.column) return { place: 'column', column: candidate.column, history: 'column' }
      return { place: candidate.used ? 'local' : 'dropped', column: null, history: 'none' }
    }
    const alias = this.#aliases.get(variable)
    if (alias) {
      const column = this.#callColumns.get(alias.call)?.[alias.item] ?? null
      return column
        ? { place: 'column', column, history: 'column' }
        : { place: 'dropped', column: null, history: 'none' }
    }
    const column = this.#historyColumns.get(variable) ?? null
    const history = column ? 'column' : variable.historyRead ? 'buffer' : 'none'
    if (variable.mode === 'var' || variable.mode === 'varip') return { place: 'state', column, history }
    const shared = this.#globals.has(variable) && this.#inFunctions.has(variable)
    return { place: shared ? 'module' : 'local', column, history }
  }

  #newColumn(kind: ColumnKind): PlannedColumn {
    const column = { index: this.#columns.length, kind }
    this.#columns.push(column)
    return column
  }

  // First pass: ranks.

  #rankBlock(block: Block, where: Where, top: boolean): boolean {
    let effects = false
    for (const statement of block.statements) effects = this.#rankStatement(statement, where, top) || effects
    if (block.result) effects = (this.#rankExpr(block.result, where) & EFFECTS) !== 0 || effects
    return effects
  }

  /** Returns whether the statement reaches beyond its block: then what contains it has effects. */
  #rankStatement(statement: Stmt, where: Where, top: boolean): boolean {
    switch (statement.kind) {
      case 'Declare': {
        const { variable, value } = statement
        const facts = this.#rankExpr(value, where)
        if (top) {
          this.#globals.add(variable)
          this.#origins.set(variable, value)
          const stays = (variable.mode === 'plain' || variable.mode === 'parameter') && !variable.reassigned
          if (stays && !isDynamic(facts) && !isBlockLike(value))
            this.#candidates.set(variable, { value, order: this.#order++, used: false, column: null })
        }
        return (facts & EFFECTS) !== 0 || variable.mode !== 'plain' || variable.historyRead
      }
      case 'DeclareTuple': {
        const { variables, value } = statement
        const facts = this.#rankExpr(value, where)
        for (const [item, variable] of variables.entries()) {
          if (!variable) continue
          if (top) this.#globals.add(variable)
          if (top && (facts & DYNAMIC) === COLUMN && isStateful(value) && !variable.reassigned)
            this.#aliases.set(variable, { call: value, item })
        }
        return true
      }
      case 'Assign':
        this.#rankExpr(statement.value, where)
        return true
      case 'AssignField':
        this.#rankExpr(statement.object, where)
        this.#rankExpr(statement.value, where)
        return true
      case 'Expression':
        return (this.#rankExpr(statement.value, where) & EFFECTS) !== 0
      default:
        return true
    }
  }

  #rank(expr: Expr): Rank {
    return RANKS[Math.min(this.#known(expr) & DYNAMIC, 2)]!
  }

  #effect(expr: Expr): boolean {
    return (this.#known(expr) & EFFECTS) !== 0
  }

  /** What is not ranked may do anything. */
  #known(expr: Expr): number {
    return expr.kind === 'Const' ? FIXED : (this.#facts.get(expr) ?? DYNAMIC | EFFECTS)
  }

  #orderOf(expr: Expr): number | undefined {
    const facts = this.#facts.get(expr)
    return facts === undefined ? undefined : facts >>> 3
  }

  /**
   * Answers and remembers its facts, those of its parts among them. They are numbers, since a closure and a place for each
   * expression took a seventh of the time to write a script.
   */
  #rankExpr(expr: Expr, where: Where): number {
    if (expr.kind === 'Const') return FIXED
    const facts = this.#factsOf(expr, where)
    this.#facts.set(expr, (this.#order++ << 3) | facts)
    return facts
  }

  #factsOf(expr: Expr, where: Where): number {
    const { sometimes } = where
    switch (expr.kind) {
      case 'Const':
        return FIXED
      case 'Input': {
        const facts = expr.input.sourceExpr ? this.#rankExpr(expr.input.sourceExpr, where) : FIXED
        return expr.input.kind === 'source' ? facts | COLUMN : facts
      }
      case 'Variable':
        return this.#rankVariable(expr.variable)
      case 'BuiltinVariable': {
        const { implementation } = expr.builtin
        if ('column' in implementation || 'state' in implementation) return COLUMN
        return implementation.fixed ? FIXED : DYNAMIC
      }
      case 'History': {
        const facts = this.#rankExpr(expr.offset, where) | this.#rankExpr(expr.base, where) | COLUMN
        this.#callHistory.reads(this.#fn, expr.base)
        if (expr.base.kind === 'Variable' || expr.base.kind === 'BuiltinVariable') return facts
        return where.always && !isDynamic(facts) ? facts : facts | DYNAMIC | EFFECTS
      }
      case 'Unary':
      case 'Convert':
        return this.#rankExpr(expr.operand, where)
      case 'Binary': {
        const left = this.#rankExpr(expr.left, where)
        const logic = expr.operator === 'and' || expr.operator === 'or'
        return left | this.#rankExpr(expr.right, logic && expr.lazy ? sometimes : where)
      }
      case 'Ternary':
        return (
          this.#rankExpr(expr.test, where) |
          this.#rankExpr(expr.consequent, sometimes) |
          this.#rankExpr(expr.alternate, sometimes)
        )
      case 'BuiltinCall': {
        const facts = this.#rankAll(expr.args, where, evaluatedElsewhere(expr))
        const { implementation } = expr.overload
        if ('state' in implementation)
          return where.always && !isDynamic(facts) ? facts | COLUMN : facts | DYNAMIC | EFFECTS
        if (!('fn' in implementation) || !implementation.pure) return facts | DYNAMIC | EFFECTS
        return implementation.implicit?.length ? facts | COLUMN : facts
      }
      case 'Tuple':
        return this.#rankAll(expr.items, where) | DYNAMIC
      case 'UserCall':
        this.#callHistory.calls(this.#fn, expr.fn, where)
        return this.#rankAll(expr.args, where) | DYNAMIC | EFFECTS
      case 'NewObject':
        return this.#rankAll(expr.args, where) | DYNAMIC | EFFECTS
      default:
        this.#rankParts(expr, where)
        return DYNAMIC | EFFECTS
    }
  }

  #rankAll(parts: readonly (Expr | null)[], where: Where, except = -1): number {
    let facts = FIXED
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i]
      if (part && i !== except) facts |= this.#rankExpr(part, where)
    }
    return facts
  }

  #rankParts(expr: Composed, where: Where): void {
    const { sometimes } = where
    switch (expr.kind) {
      case 'CopyObject':
      case 'Field':
        this.#rankExpr(expr.object, where)
        break
      case 'If':
        this.#rankExpr(expr.test, where)
        this.#rankBlock(expr.consequent, sometimes, false)
        if (expr.alternate) this.#rankBlock(expr.alternate, sometimes, false)
        break
      case 'Switch':
        if (expr.subject) this.#rankExpr(expr.subject, where)
        for (const [i, { test, body }] of expr.cases.entries()) {
          if (test) this.#rankExpr(test, i === 0 ? where : sometimes)
          this.#rankBlock(body, sometimes, false)
        }
        break
      case 'For':
        this.#rankExpr(expr.from, where)
        this.#rankExpr(expr.to, sometimes)
        if (expr.by) this.#rankExpr(expr.by, sometimes)
        this.#rankBlock(expr.body, sometimes, false)
        break
      case 'ForIn':
        this.#rankExpr(expr.collection, where)
        this.#rankBlock(expr.body, sometimes, false)
        break
      case 'While':
        this.#rankExpr(expr.test, sometimes)
        this.#rankBlock(expr.body, sometimes, false)
        break
    }
  }

  #rankVariable(variable: Variable): number {
    const candidate = this.#candidates.get(variable)
    if (candidate) return this.#known(candidate.value) & DYNAMIC
    return this.#aliases.has(variable) ? COLUMN : DYNAMIC
  }

  // Guards: what must be true for the body to do anything.

  #guardsOf({ statements, result }: Block): PlannedColumn[] | null {
    const guards: PlannedColumn[] = []
    for (const statement of statements)
      if (statement.kind === 'Expression') {
        if (!this.#guard(statement.value, guards)) return null
      } else if (!this.#isAhead(statement)) return null
    return result === null || this.#guard(result, guards) ? guards : null
  }

  /** Computed ahead as a whole. */
  #isAhead(statement: Stmt): boolean {
    if (statement.kind === 'Declare') return this.#candidates.has(statement.variable)
    if (statement.kind !== 'DeclareTuple') return false
    return statement.variables.every((variable) => variable === null || this.#aliases.has(variable))
  }

  #guard(expr: Expr, guards: PlannedColumn[]): boolean {
    if (!this.#effect(expr)) return true
    if (expr.kind !== 'If' || expr.alternate !== null) return false
    if (this.#rank(expr.test) !== 'column' || columnKind(expr.test.type) !== 'u8') return false
    this.#markValue(expr.test)
    const column = this.#values.get(expr.test)
    if (!column) return false
    guards.push(column)
    return true
  }

  // Second pass: what is read, and from where.

  #markBlock(block: Block, reader: Reader): void {
    for (const statement of block.statements) this.#markStatement(statement, reader)
    if (block.result) this.#mark(block.result, reader)
  }

  #markStatement(statement: Stmt, reader: Reader): void {
    switch (statement.kind) {
      case 'Declare':
        if (!this.#candidates.has(statement.variable)) this.#mark(statement.value, reader)
        break
      case 'DeclareTuple': {
        const hoisted = statement.variables.some((variable) => variable && this.#aliases.has(variable))
        const plain = statement.variables.some((variable) => variable && !this.#aliases.has(variable))
        if (!hoisted || plain) this.#mark(statement.value, reader)
        break
      }
      case 'AssignField':
        this.#mark(statement.object, reader)
        this.#mark(statement.value, reader)
        break
      case 'Assign':
        this.#mark(statement.value, reader)
        break
      case 'Expression':
        if (this.#effect(statement.value)) this.#mark(statement.value, reader)
        break
      case 'Break':
      case 'Continue':
        break
    }
  }

  #mark(expr: Expr, reader: Reader): void {
    switch (expr.kind) {
      case 'Input':
        if (expr.input.sourceExpr) this.#mark(expr.input.sourceExpr, reader)
        return
      case 'Variable':
        this.#markVariable(expr.variable, reader, false)
        return
      case 'BuiltinVariable':
        if ('state' in expr.builtin.implementation) this.#markCall(expr)
        return
      case 'History':
        this.#markHistory(expr, reader)
        return
      case 'BuiltinCall':
        this.#markBuiltinCall(expr, reader)
        return
      case 'UserCall':
        for (const argument of expr.args) this.#mark(argument, reader)
        if (this.#visited.has(expr.fn)) return
        this.#visited.add(expr.fn)
        this.#markFunction(expr.fn)
        return
      default:
        eachPart(
          expr,
          (part) => part && this.#mark(part, reader),
          (block) => block && this.#markBlock(block, reader),
        )
    }
  }

  #markBuiltinCall(expr: BuiltinCallExpr, reader: Reader): void {
    if ('state' in expr.overload.implementation && this.#rank(expr) === 'column') {
      this.#markCall(expr)
      return
    }
    const { name } = expr.builtin
    const elsewhere = evaluatedElsewhere(expr)
    for (const [i, argument] of expr.args.entries()) {
      if (!argument || i === elsewhere) continue
      const isShown = name === 'request.result' || (DRAWN.has(name) && i === 0)
      if (isShown && this.#rank(argument) === 'column' && argument.type.kind !== 'tuple')
        this.#markValue(argument)
      else this.#mark(argument, reader)
    }
  }

  #markVariable(variable: Variable, reader: Reader, past: boolean): void {
    if (reader === 'function') this.#inFunctions.add(variable)
    const alias = this.#aliases.get(variable)
    if (alias) {
      this.#markCall(alias.call)
      return
    }
    const candidate = this.#candidates.get(variable)
    if (!candidate) return
    if (!candidate.used) {
      candidate.used = true
      this.#mark(candidate.value, 'body')
    }
    const columnWanted = (past || reader !== 'body') && this.#rank(candidate.value) === 'column'
    if (!columnWanted || candidate.column) return
    const { value } = candidate
    const own = this.#columnAtHand(value)
    if (own) {
      candidate.column = own
      return
    }
    candidate.column = this.#newColumn(columnKind(variable.type))
    this.#mark(value, 'hoist')
    this.#hoists.push({ order: candidate.order, hoist: { kind: 'value', value, column: candidate.column } })
  }

  /** The column of a hoisted call or variable that an expression merely names. */
  #columnAtHand(expr: Expr): PlannedColumn | null {
    if (expr.kind === 'Variable') {
      this.#markVariable(expr.variable, 'hoist', true)
      const alias = this.#aliases.get(expr.variable)
      if (alias) return this.#callColumns.get(alias.call)?.[alias.item] ?? null
      return this.#candidates.get(expr.variable)?.column ?? null
    }
    if (!isStateful(expr) || this.#rank(expr) !== 'column' || expr.type.kind === 'tuple') return null
    this.#markCall(expr)
    return this.#callColumns.get(expr)?.[0] ?? null
  }

  #markCall(call: StatefulExpr): void {
    if (this.#callColumns.has(call)) return
    const order = this.#orderOf(call)
    assert(order !== undefined, 'a call is ranked before it is marked')
    if (call.kind === 'BuiltinCall')
      for (const argument of call.args) if (argument) this.#mark(argument, 'hoist')
    const key = keyOf(call)
    const known = this.#calls.get(key)
    if (known) {
      known.order = Math.min(known.order, order)
      this.#callColumns.set(call, known.columns)
      return
    }
    const types = call.type.kind === 'tuple' ? call.type.items : [call.type]
    const columns = types.map((type) => this.#newColumn(columnKind(type)))
    const placed = { order, hoist: { kind: 'call', call, columns }, columns } as const
    this.#calls.set(key, placed)
    this.#callColumns.set(call, columns)
    this.#hoists.push(placed)
  }

  /** A column for an expression's value: the base of a history reference, or a plotted value. */
  #markValue(expr: Expr): void {
    if (this.#values.has(expr)) return
    if (expr.kind === 'BuiltinVariable' && 'column' in expr.builtin.implementation) return
    const own = this.#columnAtHand(expr)
    if (own) {
      this.#values.set(expr, own)
      return
    }
    this.#mark(expr, 'hoist')
    const order = this.#orderOf(expr) ?? 0
    const key = keyOf(expr)
    let placed = this.#valuesByKey.get(key)
    if (placed) placed.order = Math.min(placed.order, order)
    else {
      const column = this.#newColumn(columnKind(expr.type))
      placed = { order, hoist: { kind: 'value', value: expr, column }, column }
      this.#valuesByKey.set(key, placed)
      this.#hoists.push(placed)
    }
    this.#values.set(expr, placed.column)
  }

  #markFunction(fn: FunctionInstance): void {
    const outer = this.#fn
    this.#fn = fn
    this.#markBlock(fn.body, 'function')
    this.#fn = outer
  }

  #markHistory(expr: HistoryExpr, reader: Reader): void {
    const { base, offset } = expr
    this.#mark(offset, reader)
    if (this.#fn !== null && notableIn(this.#callHistory.notedBy(this.#fn), base) !== null) {
      this.#mark(base, reader)
      return
    }
    if (base.kind === 'Variable') {
      this.#markVariable(base.variable, reader, true)
      return
    }
    if (base.kind === 'BuiltinVariable') {
      const { implementation } = base.builtin
      if ('state' in implementation) this.#markCall(base)
      else if ('get' in implementation && !implementation.fixed && !this.#recorded.has(base.builtin.name))
        this.#recorded.set(base.builtin.name, { expr: base, column: this.#newColumn(columnKind(base.type)) })
      return
    }
    if (this.#rank(expr) === 'column' && this.#rank(base) === 'column') this.#markValue(base)
    else this.#mark(base, reader)
  }
}

/** The argument that request.*() evaluates on other bars (`slice.ts`); -1 of other calls. */
function evaluatedElsewhere(call: BuiltinCallExpr): number {
  return call.builtin.name.startsWith('request.') ? placeOf(call, 'expression') : -1
}

export function isStateful(expr: Expr): expr is StatefulExpr {
  if (expr.kind === 'BuiltinCall') return 'state' in expr.overload.implementation
  return expr.kind === 'BuiltinVariable' && 'state' in expr.builtin.implementation
}

function isBlockLike(expr: Expr): boolean {
  return expr.type.kind === 'tuple' || expr.type.kind === 'void'
}
