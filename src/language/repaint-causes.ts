// Finds in a script's tree the places where it may learn the future, or show something else live than in the past.
//
// A place found here is a suspicion, no finding: `close[1]` of a day with lookahead_on is honest, and `timenow` in a label
// does no harm. `broker/repaint.ts` runs the script to find out. For that a cause says how to take it away
// (`neutral`) or how to make it happen (`live`), as a change of the text; what no run can show is told from the text alone.

import { parse } from './1-parse/parser.ts'
import { drawnBack } from './drawn-back.ts'
import type * as tree from './1-parse/tree.ts'
import {
  argumentValue,
  blocksOfExpression,
  dotted,
  expressionsOf,
  partsOf,
  statementsBelow,
} from './tree-walk.ts'

type RepaintCause =
  | 'lookahead_on'
  | 'last_bar'
  | 'last_box'
  | 'negative_offset'
  | 'drawn_back'
  | 'calc_on_order_fills'
  | 'barstate'
  | 'higher_interval'
  | 'lower_interval'
  | 'varip'
  | 'calc_on_every_tick'
  | 'timenow'

export interface Suspect {
  readonly cause: RepaintCause
  readonly start: number
  readonly end: number
  /** The replacement without the cause. */
  readonly neutral?: string
  /** The replacement that behaves as on the forming bar, if that is the last one. */
  readonly live?: string
  /** For negative_offset: the title of the plot, if it is plain text. */
  readonly plot?: string
  /** For a request: the timeframe, if the text tells it, and whether a plot or an order depends on it. */
  readonly timeframe?: string
  readonly reachesOutput?: boolean
  /**
   * For higher_interval: a change that requests the bar's final values instead, to see whether anything depends on the
   * request.
   */
  readonly ahead?: SourceChange
}

/** Never throws; [] of a text that is no script. In the order of the text. */
export function repaintSuspects(source: string): Suspect[] {
  const { script } = parse(source)
  return [...new Walk(script).suspects(), ...drawnBack(script)].sort((a, b) => a.start - b.start)
}

export interface SourceChange {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The text with one or more places replaced. */
export function withChanges(source: string, changes: readonly SourceChange[]): string {
  let text = source
  for (const change of changes.toSorted((a, b) => b.start - a.start))
    text = text.slice(0, change.start) + change.text + text.slice(change.end)
  return text
}

const NAMES: ReadonlyMap<string, Omit<Suspect, 'start' | 'end'>> = new Map([
  ['timenow', { cause: 'timenow', neutral: 'time' }],
  ['last_bar_index', { cause: 'last_bar', neutral: 'bar_index' }],
  ['last_bar_time', { cause: 'last_bar', neutral: 'time' }],
  ['chart.right_visible_bar_time', { cause: 'last_bar', neutral: 'time' }],
  ['barstate.islast', { cause: 'barstate', neutral: 'false' }],
  ['barstate.islastconfirmedhistory', { cause: 'barstate', neutral: 'false' }],
  ['barstate.isrealtime', { cause: 'barstate', live: 'barstate.islast' }],
  ['barstate.ishistory', { cause: 'barstate', live: '(not barstate.islast)' }],
  ['barstate.isnew', { cause: 'barstate', live: '(not barstate.islast)' }],
])
const SECURITY: ReadonlySet<string> = new Set(['request.security', 'security'])
const BOXED: ReadonlySet<string> = new Set([
  'ticker.renko',
  'ticker.kagi',
  'ticker.linebreak',
  'renko',
  'kagi',
])
/** Calls whose arguments, or whose existence, people can see. */
const OUTPUT =
  /^(?:plot\w*|bgcolor|barcolor|fill|strategy\.(?:entry|order|exit|close|close_all|cancel|cancel_all))$/
/** The longest chain of names that stand for names. */
const DEPTH_MAX = 50

class Walk {
  readonly #version: number
  readonly #statements: readonly tree.Statement[]
  readonly #values = new Map<string, tree.Expression[]>()
  readonly #found: Suspect[] = []
  #saysConfirmed = false

  constructor(script: tree.Script) {
    this.#version = script.version ?? 6
    this.#statements = script.statements
    for (const one of statementsBelow(this.#statements)) {
      const name = assignedName(one)
      if (name !== null && 'value' in one)
        this.#values.set(name, [...(this.#values.get(name) ?? []), one.value])
    }
  }

  suspects(): Suspect[] {
    for (const one of statementsBelow(this.#statements)) {
      for (const node of expressionsOf(one)) this.#look(node)
      if (one.kind === 'VariableDeclaration' && one.mode === 'varip' && this.#changes(one.name.name))
        if (reaches(this.#statements, { names: new Set([one.name.name]), call: null }))
          this.#found.push({ cause: 'varip', start: one.start, end: one.end })
    }
    this.#varipFields()
    if (!this.#saysConfirmed) return this.#found
    // A script that waits for the bar to close does the same however often it runs within it.
    return this.#found.filter(({ cause }) => cause !== 'calc_on_every_tick' && cause !== 'varip')
  }

  #look(root: tree.Expression): void {
    const open = [{ node: root, isIndex: false }]
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      const { node, isIndex } = one
      const name = node.kind === 'Identifier' || node.kind === 'Member' ? dotted(node) : null
      if (name === 'barstate.isconfirmed') this.#saysConfirmed = true
      const known = name === null || this.#values.has(name) ? undefined : NAMES.get(name)
      // `close[barstate.isrealtime ? 1 : 0]` is how one makes the past and the present alike.
      if (known && !(isIndex && known.live !== undefined))
        this.#found.push({ ...known, start: node.start, end: node.end })
      if (node.kind === 'Call') this.#call(node)
      for (const part of partsOf(node))
        open.push({ node: part, isIndex: isIndex || (node.kind === 'Index' && part === node.index) })
    }
  }

  #call(call: tree.Call): void {
    const name = dotted(call.callee) ?? ''
    if (name === 'strategy') this.#declaration(call)
    else if (SECURITY.has(name)) this.#security(call)
    else if (BOXED.has(name)) {
      const style = call.arguments.find(({ value }) => this.#isLastBox(value))?.value
      if (style)
        this.#found.push({ cause: 'last_box', start: style.start, end: style.end, neutral: '"Traditional"' })
    }
  }

  #declaration(call: tree.Call): void {
    for (const cause of ['calc_on_order_fills', 'calc_on_every_tick'] as const) {
      const given = call.arguments.find((one) => one.name?.name === cause)
      if (given && !isFalse(given.value)) this.#found.push({ cause, start: given.start, end: given.end })
    }
  }

  #security(call: tree.Call): void {
    const place = { start: call.start, end: call.end }
    const lookahead = argumentValue(call, 4, 'lookahead')
    const isOff = lookahead === null || this.#isOff(lookahead)
    if (!isOff) {
      const { start, end } = lookahead
      this.#found.push({ cause: 'lookahead_on', start, end, neutral: 'barmerge.lookahead_off' })
      return
    }
    const timeframe = argumentValue(call, 1, this.#version < 5 ? 'resolution' : 'timeframe')
    const written = timeframe === null ? null : this.#text(timeframe)
    const known = {
      ...place,
      ...(written !== null && { timeframe: written }),
      reachesOutput: reaches(this.#statements, { names: new Set(), call }),
    }
    if (written !== null) this.#found.push({ cause: 'lower_interval', ...known })
    const wanted = argumentValue(call, 2, 'expression')
    if (wanted !== null && this.#tense(wanted) !== 'past')
      this.#found.push({ cause: 'higher_interval', ...known, ahead: lookingAhead(call, lookahead) })
  }

  #isOff(node: tree.Expression): boolean {
    return isFalse(node) || dotted(node) === 'barmerge.lookahead_off'
  }

  /** The text that an expression evaluates to, if there is only one. */
  #text(node: tree.Expression, depth = 0): string | null {
    if (node.kind === 'String') return node.value
    if (node.kind === 'Call' && /^input(?:\.\w+)?$/.test(dotted(node.callee) ?? '')) {
      const preset = argumentValue(node, 0, 'defval')
      return preset?.kind === 'String' ? preset.value : null
    }
    const [only, ...more] = node.kind === 'Identifier' ? (this.#values.get(node.name) ?? []) : []
    return only === undefined || more.length > 0 || depth === DEPTH_MAX ? null : this.#text(only, depth + 1)
  }

  #isLastBox(node: tree.Expression): boolean {
    const text = this.#text(node)
    return text === 'ATR' || text === 'PercentageLTP'
  }

  /** Whether an expression uses bars that have closed by then (`close[1]`), the present bar, or none. */
  #tense(node: tree.Expression, depth = 0): 'past' | 'now' | 'none' {
    if (depth === DEPTH_MAX) return 'now'
    const of = (parts: readonly tree.Expression[], otherwise: 'now' | 'none') => {
      const tenses = parts.map((part) => this.#tense(part, depth + 1))
      return tenses.includes('now') ? 'now' : tenses.includes('past') ? 'past' : otherwise
    }
    switch (node.kind) {
      case 'Number':
      case 'String':
      case 'Bool':
      case 'Color':
        return 'none'
      case 'Index':
        return node.index.kind === 'Number' && node.index.value === 0
          ? this.#tense(node.object, depth + 1)
          : 'past'
      case 'Identifier':
        return of(this.#values.get(node.name) ?? [], this.#values.has(node.name) ? 'none' : 'now')
      case 'Member':
        return 'now'
      case 'Call': {
        const name = dotted(node.callee) ?? ''
        if (/^input(?:\.\w+)?$/.test(name)) return name === 'input.source' ? 'now' : 'none'
        return of(
          node.arguments.map(({ value }) => value),
          'now',
        )
      }
      default:
        return of(partsOf(node), 'now')
    }
  }

  #changes(name: string): boolean {
    for (const one of statementsBelow(this.#statements)) {
      if (one.kind === 'Assignment' && dotted(one.target)?.split('.')[0] === name) return true
      if (expressionsOf(one).some((root) => changesWithin(root, name))) return true
    }
    return false
  }

  /** A field that ticks change, of whichever object. */
  #varipFields(): void {
    for (const one of this.#statements)
      for (const field of one.kind === 'TypeDeclaration' ? one.fields : []) {
        const holders = field.varip ? this.#holdersOf(field.name.name) : []
        if (holders.length > 0 && reaches(this.#statements, { names: new Set(holders), call: null }))
          this.#found.push({ cause: 'varip', start: field.start, end: field.end })
      }
  }

  /** Names of objects of which a field is assigned to. */
  #holdersOf(field: string): string[] {
    return [...statementsBelow(this.#statements)].flatMap((one) => {
      if (one.kind !== 'Assignment' || one.target.kind !== 'Member') return []
      const [holder = ''] = dotted(one.target)?.split('.') ?? []
      return one.target.property.name === field ? [holder] : []
    })
  }
}

/** Methods that change a collection. */
const CHANGES = /^(?:push|pop|shift|unshift|insert|remove|set|put|put_all|clear|fill|add_row|add_col)$/

/** Whether a collection of that name is changed: `ticks.push(close)`, `array.push(ticks, close)`. */
function changesWithin(root: tree.Expression, name: string): boolean {
  if (root.kind === 'Call' && root.callee.kind === 'Member' && CHANGES.test(root.callee.property.name)) {
    const [first] = root.arguments
    if (dotted(root.callee.object) === name || (first && dotted(first.value) === name)) return true
  }
  return partsOf(root).some((part) => changesWithin(part, name))
}

/** Named arguments come last. */
function lookingAhead(call: tree.Call, given: tree.Expression | null): SourceChange {
  const text = 'barmerge.lookahead_on'
  if (given !== null) return { start: given.start, end: given.end, text }
  return { start: call.end - 1, end: call.end - 1, text: `, lookahead=${text}` }
}

function isFalse(node: tree.Expression): boolean {
  return node.kind === 'Bool' && !node.value
}

function assignedName(one: tree.Statement): string | null {
  if (one.kind === 'VariableDeclaration') return one.name.name
  return one.kind === 'Assignment' && one.target.kind === 'Identifier' ? one.target.name : null
}

/** What is followed: names, to which more are added as values flow on, and perhaps one call. */
interface Followed {
  readonly names: Set<string>
  readonly call: tree.Call | null
}

/** Whether a plot or an order depends on it, by a value made from it or by a condition. */
function reaches(statements: readonly tree.Statement[], followed: Followed): boolean {
  for (let before = -1; before !== followed.names.size;) {
    before = followed.names.size
    if (flowsOut(statements, followed, false)) return true
  }
  return false
}

function flowsOut(statements: readonly tree.Statement[], followed: Followed, within: boolean): boolean {
  let isOut = false
  for (const one of statements) {
    const roots = expressionsOf(one)
    const reads = within || roots.some((root) => readsAny(root, followed))
    const target = assignedName(one)
    if (reads && target !== null) followed.names.add(target)
    if (reads && one.kind === 'TupleDeclaration') for (const { name } of one.names) followed.names.add(name)
    if (reads && roots.some(isOutput)) isOut = true
    const isFunction = one.kind === 'FunctionDeclaration'
    if (isFunction && readsAnyWithin(one.body.statements, followed)) followed.names.add(one.name.name)
    const blocks = isFunction ? [one.body] : roots.flatMap(blocksOfExpression)
    for (const block of blocks) if (flowsOut(block.statements, followed, reads)) isOut = true
    if (
      target !== null &&
      blocks.some(({ statements: inner }) => !isFunction && readsAnyWithin(inner, followed))
    )
      followed.names.add(target)
  }
  return isOut
}

function readsAnyWithin(statements: readonly tree.Statement[], followed: Followed): boolean {
  for (const one of statementsBelow(statements))
    if (expressionsOf(one).some((root) => readsAny(root, followed))) return true
  return false
}

function readsAny(root: tree.Expression, followed: Followed): boolean {
  if (root === followed.call) return true
  if (root.kind === 'Identifier') return followed.names.has(root.name)
  return partsOf(root).some((part) => readsAny(part, followed))
}

function isOutput(root: tree.Expression): boolean {
  if (root.kind === 'Call' && OUTPUT.test(dotted(root.callee) ?? '')) return true
  return partsOf(root).some(isOutput)
}
