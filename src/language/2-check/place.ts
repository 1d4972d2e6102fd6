// What the checker passes through everything.
//
// A Check is one run over one script and the libraries it imports: it numbers variables and call sites and collects its
// findings. A Unit is a script or a library: its functions, types and imports, which are at its top level. A Place is a
// position in the text: the names in sight and the list of statements being written.

import type * as tree from '../1-parse/tree.ts'
import type { Diagnostic } from '../diagnostic.ts'
import type { PineVersion } from '../runtime/executable.ts'
import type { Range } from '../source.ts'
import * as messages from '../messages/checking.ts'
import type { Message } from '../messages/message.ts'
import { AssignedNames } from './assigned.ts'
import { COMPARED_MAX, NODES_MAX } from './caps.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Declaration, Expr, FunctionInstance, Input, InputExpr, Stmt, Variable } from './program.ts'
import {
  isPrimitive,
  latest,
  type EnumMemberValue,
  type EnumType,
  type Qualifier,
  type Type,
  type Udt,
} from './types.ts'
import { versionTable, type VersionTable } from './version.ts'

export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

export type ConstValue = number | string | boolean | null | EnumMemberValue

export interface CheckOptions {
  readonly library?: (user: string, library: string, version: number) => string | null
}

/** Mistakes of a name rather than of the place it is used at: each name is reported once. */
const OF_MISSING_NAMES: ReadonlySet<string> = new Set([
  'undeclared-name',
  'undeclared-function',
  'assigned-undeclared',
  'unknown-type',
])

/**
 * The two rules that all others lead back to: a call contains expressions, an expression contains blocks, a block
 * statements, and a statement expressions. Files of rules import the rules below them, and reach these two through the
 * Check.
 */
export interface Rules {
  readonly expression: (here: Place, node: tree.Expression, use?: Use) => Expr
  /** Gives the variables it sets, for a block that ends with it. */
  readonly statement: (here: Place, node: tree.Statement) => readonly Variable[]
}

export class Check {
  readonly rules: Rules
  readonly options: CheckOptions
  readonly assigned = new AssignedNames()
  readonly inputs: Input[] = []
  readonly inputExprs = new Map<tree.Node, InputExpr>()
  readonly functions: FunctionInstance[] = []
  readonly udts: Udt[] = []
  readonly enums: EnumType[] = []
  /** Globals of libraries, before the script's own statements. */
  readonly prologue: Stmt[] = []
  /** The value of a variable that never changes, if it is known at compile time. */
  readonly constants = new Map<Variable, ConstValue>()
  /** The qualifiers of each item for functions that return a tuple. */
  readonly resultQualifiers = new Map<FunctionInstance, readonly Qualifier[]>()
  readonly imported: {
    readonly at: { readonly here: Place; readonly node: tree.Node }
    readonly path: string
    readonly source: string
    readonly library: Unit
  }[] = []
  readonly libraries = new Map<string, Unit | null>()
  /** Libraries whose own imports are being read right now. */
  readonly reading = new Set<string>()
  declaration: Declaration | null = null
  siteCount = 0
  functionCount = 0
  /** How many functions were checked again, for other types of arguments. */
  copies = 0
  /** How many functions are being checked right now, each because the one around it calls it. */
  depth = 0
  variableCount = 0
  plotCount = 0
  /** Whether the script plots, draws or tells anything. */
  hasOutput = false
  readonly plotTitles: string[] = []
  tupleElements = 0
  /** Variables declared with `const`, which nothing may change. */
  readonly fixed = new Set<Variable>()
  /** Variables declared `simple`. */
  readonly steady = new Set<Variable>()
  /** Variables that may have another value in each round of a loop. */
  readonly loopDependent = new Set<Variable>()
  /** The branch that variables which `:=` changes were declared in. */
  readonly declaredIn = new Map<Variable, Branch>()
  /** Calls of request.*() known to differ. */
  readonly requests = new Set<string>()
  /** Functions whose value depends on the bars they were called on before. */
  readonly lookingBack = new Set<FunctionInstance>()
  /** How many letters the texts computed from constants have. */
  folded = 0
  /** How many calls of the script's own functions were computed. */
  foldedCalls = 0
  #nodes = 0
  #compared = 0
  /** What has been reported already, for each list: text that is only tried out reports to a list that nobody reads. */
  readonly #seen = new WeakMap<readonly Diagnostic[], Set<string>>()

  /**
   * Up to version 3 a variable has the type of what is written to it, if its declaration says less (`x = na`, `x = 0`). The
   * check finds that when it comes to the assignment, and is then made again.
   */
  readonly retyped: Map<string, Type>

  constructor(rules: Rules, options: CheckOptions, retyped = new Map<string, Type>()) {
    this.rules = rules
    this.options = options
    this.retyped = retyped
  }

  site(): number {
    return this.siteCount++
  }

  /** Counts what is being checked. Answers false once a script exceeds the limit, which is reported the first time. */
  admits(here: Place, node: Range, count = 1): boolean {
    this.#nodes += count
    if (this.#nodes <= NODES_MAX) return true
    if (this.#nodes - count <= NODES_MAX) this.report(here, node, messages.scriptTooLarge(NODES_MAX))
    return false
  }

  /** The name that was probably meant. A script of nothing but unknown names soon gets no more hints, as each costs time. */
  suggest(name: string, candidates: Iterable<string>): string | null {
    const left = COMPARED_MAX - this.#compared
    if (left <= 0) return null
    const { found, compared } = nearest(name, candidates, left)
    this.#compared += compared
    return found
  }

  /**
   * A function is checked once for each list of argument types, but its mistakes are reported only once. A name that does
   * not exist is reported at its first use, since one slip in a declaration is one mistake.
   */
  report(here: Place, node: Range, message: Message): void {
    const { diagnostics } = here.unit
    const seen = this.#seen.get(diagnostics) ?? new Set<string>()
    this.#seen.set(diagnostics, seen)
    const missing = OF_MISSING_NAMES.has(message.code) ? /`.+?`/.exec(message.message)?.[0] : undefined
    const key = missing ?? `${message.code}@${node.start}`
    if (seen.has(key)) return
    seen.add(key)
    diagnostics.push({ ...message, start: node.start, end: node.end })
  }
}

export interface Unit {
  readonly version: PineVersion
  /** 1 to 6, as the text says it; 1 where it says none. Versions 1 to 3 are read as 4, but for what each does otherwise (L11). */
  readonly written: number
  readonly names: VersionTable
  /** What is put before the unit's names in the program: nothing for the script, `alias.` for a library. */
  readonly prefix: string
  /** `user/library/version`; nothing for the script. */
  readonly path: string
  readonly diagnostics: Diagnostic[]
  readonly functions: Map<string, FunctionTemplate[]>
  readonly types: Map<string, UdtInfo>
  readonly enums: Map<string, { readonly type: EnumType; readonly exported: boolean }>
  /** Read by importOf(), which brings what is deferred. */
  readonly imports: Map<string, Unit>
  /**
   * Imports whose alias is a built-in namespace, by alias. They are linked when a name is used that the namespace does not
   * have, so that a script which only writes `ta.sma` is the same with and without `import TradingView/ta/7` (L10).
   */
  readonly deferred: Map<string, () => void>
  /** Aliases of libraries that were not found. That is reported once, and uses of them are not. */
  readonly missing: Set<string>
  readonly scope: Scope
  /** Top-level variables by name, for `used-before-declaration` and for libraries, whose globals are taken when needed. */
  readonly globals: Map<string, tree.VariableDeclaration | tree.TupleDeclaration>
  readonly isLibrary: boolean
  /** Globals of a library being taken in right now. */
  readonly pending: Set<string>
}

export interface UdtInfo {
  readonly udt: Mutable<Udt>
  readonly node: tree.TypeDeclaration
  readonly exported: boolean
}

export interface FunctionTemplate {
  readonly name: string
  readonly node: tree.FunctionDeclaration
  readonly unit: Unit
  /** What has been checked already, by the types and qualifiers of the arguments; null while it is being checked. */
  readonly instances: Map<string, CheckedFunction | null>
  /** The types that the parameters are declared with; null = any type. */
  readonly types: readonly (Type | null)[]
}

export interface CheckedFunction {
  readonly fn: FunctionInstance
  readonly qualifier: Qualifier
}

/** What the value of an expression is for: nothing, the end of a block (which may not need it), or a definite use. */
export type Use = 'statement' | 'tail' | 'value'

export interface Place {
  readonly check: Check
  readonly unit: Unit
  readonly scope: Scope
  readonly out: Stmt[]
  readonly owner: FunctionInstance | null
  /** Inside a function's text: globals declared after this offset are out of sight. */
  readonly horizon: number
  /** Loops of this function, or of the script, that we are inside of. */
  readonly loops: number
  /** Directly in the body of the script or of a function. */
  readonly topLevel: boolean
  /** Whether this place is not executed on every bar, or is executed many times on one. */
  readonly conditional: boolean
  /**
   * What may be left out within the statement being checked: the right side of an `and`, the arms of a choice. `head`: the head
   * of a loop, which is evaluated in each round, so that nothing can be put before the statement.
   */
  readonly edge: 'none' | 'lazy' | 'head'
  /** The condition that decides whether this place is reached. */
  readonly branch: Branch | null
  /** Whether this is inside a function that a library exports, which cannot see all of the library's globals. */
  readonly exported: boolean
  /** The name of the variable that receives the value being checked, which names an input without a title. */
  readonly target: string
}

/** A block that is executed or not, or several times, depending on a value of this qualifier. */
export interface Branch {
  readonly qualifier: Qualifier
  readonly outer: Branch | null
}

export class Scope {
  readonly parent: Scope | null
  readonly names = new Map<string, Variable>()
  /** How many of the names the script has written. */
  written = 0
  /** Names that `:=` changes somewhere inside. */
  readonly assigned: ReadonlySet<string>

  constructor(parent: Scope | null, assigned: ReadonlySet<string>) {
    this.parent = parent
    this.assigned = assigned
  }

  find(name: string): Variable | null {
    let found = this.names.get(name)
    for (let outer = this.parent; found === undefined && outer !== null; outer = outer.parent)
      found = outer.names.get(name)
    return found ?? null
  }

  *all(): Generator<string> {
    yield* this.names.keys()
    for (let outer = this.parent; outer !== null; outer = outer.parent) yield* outer.names.keys()
  }
}

/** TradingView's limit for one scope (limitations, "Variables per scope"). */
const VARIABLES_MAX = 1000

export function declare(
  here: Place,
  name: string,
  start: number,
  type: Type,
  qualifier: Qualifier,
  mode: Variable['mode'],
): Variable {
  const isAssigned = here.scope.assigned.has(name)
  const variable: Variable = {
    id: here.check.variableCount++,
    name,
    type,
    qualifier: isAssigned ? latest(qualifier, isPrimitive(type) ? 'simple' : 'series') : qualifier,
    mode,
    reassigned: false,
    historyRead: false,
    owner: here.owner,
    topLevel: here.topLevel,
    start,
  }
  here.scope.names.set(name, variable)
  if (isAssigned && here.branch !== null) here.check.declaredIn.set(variable, here.branch)
  // Names with a raised dot are ours: the script did not write them.
  if (!name.startsWith('·') && ++here.scope.written === VARIABLES_MAX + 1)
    here.check.report(here, { start, end: start + name.length }, messages.tooManyVariables(VARIABLES_MAX))
  return variable
}

export function markReassigned(variable: Variable): void {
  ;(variable as Mutable<Variable>).reassigned = true
}
export function markHistory(variable: Variable): void {
  ;(variable as Mutable<Variable>).historyRead = true
}

/** Replaces an expression with a mistake. It fits everywhere, so that each mistake is reported once. */
export function errorExpr(node: Range): Expr {
  return {
    kind: 'Const',
    value: null,
    type: { kind: 'error' },
    qualifier: 'const',
    start: node.start,
    end: node.end,
  }
}

export function newUnit(
  check: Check,
  script: tree.Script,
  version: PineVersion,
  prefix: string,
  path: string,
): Unit {
  return {
    version,
    written: script.version ?? 1,
    names: versionTable(version),
    prefix,
    path,
    diagnostics: [],
    functions: new Map(),
    types: new Map(),
    enums: new Map(),
    imports: new Map(),
    deferred: new Map(),
    missing: new Set(),
    scope: new Scope(null, check.assigned.among(script.statements)),
    globals: new Map(),
    isLibrary: path !== '',
    pending: new Set(),
  }
}

/** The library that a name which is not built in belongs to, if `alias` is one. */
export function importOf({ imports, deferred }: Unit, alias: string): Unit | undefined {
  const link = deferred.get(alias)
  deferred.delete(alias)
  link?.()
  return imports.get(alias)
}

/** Where the statements of a unit's top are checked. */
export function atTop(check: Check, unit: Unit): Place {
  return {
    check,
    unit,
    scope: unit.scope,
    out: [],
    owner: null,
    horizon: Number.POSITIVE_INFINITY,
    loops: 0,
    topLevel: true,
    conditional: false,
    edge: 'none',
    branch: null,
    exported: false,
    target: '',
  }
}

/** The same place, for a part that may be left out. */
export function lazily(here: Place): Place {
  return { ...here, conditional: true, edge: here.edge === 'head' ? 'head' : 'lazy' }
}

export function isLoopDependent(here: Place, variable: Variable): boolean {
  return variable.mode === 'loop' || here.check.loopDependent.has(variable)
}
