// Finds where a script draws onto bars before the one on which it knew: plots moved to the left, and labels, boxes and lines that
// end there. On the chart such a signal stands where nobody could have acted on it.
//
// Much that is drawn back is honest. A pivot, or a candle that the text compares with those on both of its sides, is known only
// later, and everybody knows so; a price that is moved as it is (a lagging span) says nothing new; levels are drawn back from
// the last bar. What tells them apart is how old the values are on which the drawing depends.

import type * as tree from './1-parse/tree.ts'
import {
  argumentValue,
  blocksOfExpression,
  dotted,
  expressionsOf,
  partsOf,
  statementsBelow,
} from './tree-walk.ts'

interface DrawnBack {
  readonly cause: 'negative_offset' | 'drawn_back'
  readonly start: number
  readonly end: number
  /** The title of a plot, if it is plain text. */
  readonly plot?: string
}

/** A value as it was assigned, pushed or given, and the conditions around it. */
interface Given {
  readonly value: tree.Expression
  readonly guards: readonly tree.Expression[]
}

/** Plots that can be moved: the places of `series` and `offset`, and what the series is called. */
const MOVED: Readonly<Record<string, readonly [place: number, series: string]>> = {
  plot: [7, 'series'],
  plotshape: [5, 'series'],
  plotchar: [5, 'series'],
  plotarrow: [4, 'series'],
  bgcolor: [1, 'color'],
  barcolor: [1, 'color'],
}

/**
 * Drawings: the arguments that say up to where each reaches, by place and name, of which all must lie back; then the same where
 * points are given instead of coordinates, which the number of the first says.
 */
const DRAWN: Readonly<Record<string, readonly (readonly [place: number, name: string])[]>> = {
  'label.new': [[0, 'x']],
  'box.new': [
    [0, 'left'],
    [2, 'right'],
  ],
  'line.new': [
    [0, 'x1'],
    [2, 'x2'],
  ],
  'polyline.new': [[0, 'points']],
  'label.set_x': [[1, 'x']],
  'label.set_xy': [[1, 'x']],
  'label.set_point': [[1, 'point']],
  'line.set_xy2': [[1, 'x']],
  'box.set_right': [[1, 'right']],
}
const POINTS: Readonly<Record<string, readonly (readonly [place: number, name: string])[]>> = {
  'label.new': [[0, 'point']],
  'box.new': [
    [0, 'top_left'],
    [1, 'bottom_right'],
  ],
  'line.new': [
    [0, 'first_point'],
    [1, 'second_point'],
  ],
}
const PRICES =
  /^(?:open|high|low|close|hl2|hlc3|ohlc4|hlcc4|volume|bar_index|time|time_close|hour|minute|dayofweek)$/
const MOVED_AS_IT_IS = /^(?:open|high|low|close|hl2|hlc3|ohlc4|hlcc4|volume|na)$/
const LAST_BAR = /^(?:barstate\.(?:islast|islastconfirmedhistory|isrealtime)|last_bar_(?:index|time))$/
const SERIES = /^(?:ta|request|strategy)\.|^(?:sma|ema|rsi|cross\w*|highest|lowest|security)$/
const WINDOW = /^(?:ta\.)?(?:highest|lowest)(?:bars)?$/
const COMPARES = /^(?:[<>]=?|[!=]=)$/
const FAR = 5000
/** The longest chain of names and calls that is followed. */
const DEPTH_MAX = 12
/** How deep expressions, and the names in them, may lie in each other. */
const NESTED_MAX = 300

/** What a value depends on. */
interface Dependence {
  /** How many bars ago its prices are of, NaN where the text does not tell. */
  readonly ages: ReadonlySet<number>
  /** Prices and functions of them. */
  readonly names: ReadonlySet<string>
  readonly isPivot: boolean
  /** Whether it is true on the last bar only. */
  readonly isOfLastBar: boolean
  /** Where values of one earlier bar are compared: its age, and those of the others. */
  readonly compared: readonly { readonly age: number; readonly against: readonly number[] }[]
}
const NOTHING: Dependence = {
  ages: new Set(),
  names: new Set(),
  isPivot: false,
  isOfLastBar: false,
  compared: [],
}
/** Of a script that compares very much, the first so many comparisons tell. */
const COMPARED_MAX = 200

function joined(parts: readonly Dependence[]): Dependence {
  return {
    ages: new Set(parts.flatMap(({ ages }) => [...ages])),
    names: new Set(parts.flatMap(({ names }) => [...names])),
    isPivot: parts.some(({ isPivot }) => isPivot),
    isOfLastBar: parts.some(({ isOfLastBar }) => isOfLastBar),
    compared: parts.flatMap(({ compared }) => compared).slice(0, COMPARED_MAX),
  }
}

function agedBy(one: Dependence, bars: number): Dependence {
  const compared = one.compared.map(({ age, against }) => ({
    age: age + bars,
    against: against.map((other) => other + bars),
  }))
  return { ...one, ages: new Set([...one.ages].map((age) => age + bars)), compared }
}

function comparison(left: ReadonlySet<number>, right: ReadonlySet<number>): Dependence {
  const sides = [
    [left, right],
    [right, left],
  ] as const
  const compared = sides.flatMap(([[age = 0, ...more], others]) =>
    age > 0 && more.length === 0 ? [{ age, against: [...others] }] : [],
  )
  return { ...NOTHING, compared }
}

/** In the order of the text. */
export function drawnBack(script: tree.Script): DrawnBack[] {
  return new DrawingSearch(script.statements).found
}

class DrawingSearch {
  readonly found: DrawnBack[] = []
  readonly #values = new Map<string, Given[]>()
  readonly #types = new Map<string, tree.TypeDeclaration>()
  readonly #functions = new Map<string, tree.FunctionDeclaration>()
  /** Names of loops' counters. */
  readonly #counters = new Set<string>()
  readonly #known = new Map<tree.Expression, Dependence>()
  #depth = 0
  readonly #sites: { readonly call: tree.Call; readonly guards: Given['guards'] }[] = []

  constructor(statements: readonly tree.Statement[]) {
    this.#gather(statements, [])
    for (const { call, guards } of this.#sites) this.#judge(call, guards)
  }

  // ——— what the text says of names and calls ———

  #gather(statements: readonly tree.Statement[], guards: Given['guards']): void {
    for (const one of statements) {
      if (one.kind === 'TypeDeclaration') this.#types.set(one.name.name, one)
      if (one.kind === 'VariableDeclaration') this.#assign(one.name.name, { value: one.value, guards })
      if (one.kind === 'TupleDeclaration')
        for (const { name } of one.names) this.#give(name, { value: one.value, guards })
      const target = one.kind === 'Assignment' ? dotted(one.target) : null
      if (one.kind === 'Assignment' && target !== null) this.#assign(target, { value: one.value, guards })
      if (one.kind === 'FunctionDeclaration') {
        this.#functions.set(one.name.name, one)
        this.#gather(one.body.statements, [])
      }
      for (const root of expressionsOf(one)) {
        this.#calls(root, guards)
        this.#blocks(root, guards)
      }
    }
  }

  /** A new object also gives its fields, under the names of `name.field`. */
  #assign(name: string, { value, guards }: Given): void {
    this.#give(name, { value, guards })
    if (value.kind !== 'Call' || value.callee.kind !== 'Member') return
    const fields = this.#types.get(dotted(value.callee.object) ?? '')?.fields ?? []
    fields.forEach((field, place) => {
      const given = argumentValue(value, place, field.name.name)
      if (given !== null) this.#give(`${name}.${field.name.name}`, { value: given, guards })
    })
  }

  #blocks(root: tree.Expression, guards: Given['guards']): void {
    if (root.kind === 'ForIn') this.#give(root.value.name, { value: root.collection, guards })
    if (root.kind === 'For') this.#counters.add(root.counter.name)
    const tests = root.kind === 'For' || root.kind === 'ForIn' ? [] : partsOf(root)
    for (const { statements } of blocksOfExpression(root)) this.#gather(statements, [...guards, ...tests])
  }

  #calls(root: tree.Expression, guards: Given['guards']): void {
    const open = [{ node: root, around: guards }]
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      const { node, around } = one
      if (node.kind === 'Call') this.#call(node, around)
      const within = node.kind === 'Ternary' ? [...around, node.test] : around
      for (const part of partsOf(node).toReversed()) open.push({ node: part, around: within })
    }
  }

  #call(call: tree.Call, guards: Given['guards']): void {
    this.#sites.push({ call, guards })
    const parameters = this.#functions.get(methodName(call))?.parameters ?? []
    const given = argumentsOf(call)
    parameters.forEach(({ name }, place) => {
      const value = argumentNamed(call, name.name) ?? given[place]
      if (value !== undefined) this.#give(name.name, { value, guards })
    })
    if (/^(?:push|unshift|set)$/.test(methodName(call)) && given[0]?.kind === 'Identifier')
      for (const value of given.slice(1)) this.#give(given[0].name, { value, guards })
  }

  #give(name: string, given: Given): void {
    this.#values.set(name, [...(this.#values.get(name) ?? []), given])
  }

  // ——— what is drawn ———

  #judge(call: tree.Call, guards: Given['guards']): void {
    const name = dotted(call.callee) ?? ''
    const moved = MOVED[name]
    if (moved) return this.#judgePlot(call, ...moved)
    const drawing = DRAWN[name] ? name : drawingOfMethod(call)
    if (drawing === null) return
    const given = argumentsOf(call)
    const at = (places: readonly (readonly [number, string])[]) =>
      places.map(([place, named]) => argumentNamed(call, named) ?? given[place])
    const byPoints = at(POINTS[drawing] ?? [])
    const isPoint = byPoints[0] !== undefined && this.#isPoint(byPoints[0])
    const ends = isPoint
      ? byPoints
      : at(DRAWN[drawing]!).flatMap((end) =>
          drawing === 'polyline.new' && end ? this.#pointsOf(end) : [end],
        )
    const backs = ends.map((end) => (end === undefined ? null : this.#back(end)))
    const [first] = backs
    if (!first || backs.some((back) => back === null)) return
    const lag = Math.min(...backs.map((back) => back!.lag))
    const around = [...first.guards, ...guards, ...this.#guardsOfCaller(call)]
    const deciding = around.filter((guard) => {
      const { ages, isOfLastBar } = this.#dependsOn(guard)
      return ages.size > 0 || isOfLastBar
    })
    const others = given.filter((one) => !ends.includes(one))
    if (this.#isHonest(deciding.length > 0 ? deciding : others, lag, first.guards)) return
    this.found.push({ cause: 'drawn_back', start: call.start, end: call.end })
  }

  #judgePlot(call: tree.Call, place: number, named: string): void {
    // A level drawn back from the last bar shows nothing of bars before it.
    if (argumentNamed(call, 'show_last') !== null) return
    const offset = argumentValue(call, place, 'offset')
    const series = argumentValue(call, 0, named)
    if (offset === null || series === null) return
    const bars = this.#number(offset)
    const lag = bars === null ? NaN : -bars
    if (lag <= 0 || (bars === null && !this.#isMinus(offset))) return
    // So far to the left that only the mark on the price scale is seen.
    if (lag > FAR) return
    if (this.#isMovedAsItIs(series) || this.#isHonest([series], lag, [])) return
    const { start, end } = call.arguments.find((one) => one.value === offset) ?? offset
    const title = argumentValue(call, 1, 'title')
    this.found.push({
      cause: 'negative_offset',
      start,
      end,
      ...(title?.kind === 'String' && { plot: title.value }),
    })
  }

  #isPoint(node: tree.Expression, depth = 0): boolean {
    if (node.kind === 'Call') return (dotted(node.callee) ?? '').startsWith('chart.point.')
    return (
      node.kind === 'Identifier' &&
      depth < DEPTH_MAX &&
      this.#given(node).some(({ value }) => this.#isPoint(value, depth + 1))
    )
  }

  /** Of a list of points, those that are known: it was made of them, or they were added to it. */
  #pointsOf(list: tree.Expression): tree.Expression[] {
    const made = list.kind === 'Call' ? [list] : this.#given(list).map(({ value }) => value)
    return made.flatMap((one) =>
      one.kind === 'Call' && methodName(one) === 'from' ? argumentsOf(one) : this.#isPoint(one) ? [one] : [],
    )
  }

  /** The conditions around the calls of the function that a call stands in. */
  #guardsOfCaller(call: tree.Call): tree.Expression[] {
    for (const [name, { start, end }] of this.#functions)
      if (start <= call.start && call.end <= end)
        return this.#sites.flatMap((site) => (methodName(site.call) === name ? site.guards : []))
    return []
  }

  /**
   * By how many bars a place lies before the bar that it is worked out on, NaN where the text does not tell the number; null if it
   * does not, or by a number that changes: `bar_index - ta.barssince(x)` is where something happened.
   */
  #back(node: tree.Expression, depth = 0): { readonly lag: number; readonly guards: Given['guards'] } | null {
    if (depth > DEPTH_MAX) return null
    const most = (some: readonly Given[]) => {
      const all = some.flatMap(({ value, guards }) => {
        const back = this.#back(value, depth + 1)
        // The conditions under which the place was worked out, not those of what was done with it later.
        return back ? [{ lag: back.lag, guards: back.guards.length > 0 ? back.guards : guards }] : []
      })
      return all[0] ?? null
    }
    const plain = (values: readonly tree.Expression[]) => most(values.map((value) => ({ value, guards: [] })))
    const isPlace = (one: tree.Expression) => /^(?:bar_index|time|time_close)$/.test(dotted(one) ?? '')
    if (node.kind === 'Index') {
      if (!isPlace(node.object)) return null
      const lag = this.#number(node.index)
      if (lag === 0 || (lag === null && this.#changes(node.index))) return null
      return { lag: lag ?? NaN, guards: [] }
    }
    if (node.kind === 'Binary' && (node.operator === '-' || node.operator === '+')) {
      const isAfter = isPlace(node.left) || this.#isNow(node.left)
      const bars = this.#number(node.right)
      const lag = bars === null ? NaN : node.operator === '-' ? bars : -bars
      if (!isAfter) return plain([node.left])
      if (bars === null && (node.operator === '+' || this.#changes(node.right))) return null
      // Of a time, the difference is one of milliseconds.
      return lag <= 0 ? null : { lag: lag > FAR ? NaN : lag, guards: [] }
    }
    if (node.kind === 'Ternary') return plain([node.consequent, node.alternate])
    if (node.kind === 'Identifier' || node.kind === 'Member')
      return isPlace(node) ? null : most(this.#given(node))
    if (node.kind !== 'Call') return null
    const given = argumentsOf(node)
    const name = methodName(node)
    if (/^(?:max|int|nz)$/.test(name)) return plain(given)
    if (/^(?:get|first|last|from|copy)$/.test(name)) return plain(given)
    const isPoint = (dotted(node.callee) ?? '').startsWith('chart.point.')
    return isPoint ? plain(given.slice(0, name === 'new' ? 2 : 1)) : null
  }

  /** Whether a name stands for the present bar. */
  #isNow(node: tree.Expression): boolean {
    return node.kind === 'Identifier' && this.#given(node).some(({ value }) => dotted(value) === 'bar_index')
  }

  /** Whether it is another number on another bar, but for lengths of time. */
  #changes(node: tree.Expression): boolean {
    if (node.kind === 'Identifier' && this.#counters.has(node.name)) return true
    return [...this.#dependsOn(node).names].some((name) => !/^time(?:_close)?$/.test(name))
  }

  // ——— what it depends on ———

  #isHonest(deciding: readonly tree.Expression[], lag: number, drawn: Given['guards']): boolean {
    // What was decided on earlier bars is a signal, though it is only drawn on the last.
    const decided = drawn.map((guard) => this.#dependsOn(guard))
    const isEarlier = decided.some(({ ages }) => ages.size > 0) && !decided.some((one) => one.isOfLastBar)
    if (!isEarlier && deciding.some((one) => this.#dependsOn(one).isOfLastBar)) return true
    const { ages, names, isPivot, compared } = joined(deciding.map((one) => this.#dependsOn(one)))
    if (isPivot || ![...ages].some((age) => !(age >= lag))) return true
    // Where the text does not tell how old a value is, nobody is accused.
    if (ages.has(NaN)) return true
    // Each candle of a pattern may be marked, the middle one of a gap, and the bar whose close asked for a fill.
    if (lag <= 2 && (ages.has(lag) || ages.has(lag + 1))) return true
    if (lag === 1 && [...names].some((name) => name.startsWith('strategy.'))) return true
    const against = compared.flatMap((one) => (Number.isNaN(lag) || one.age === lag ? one.against : []))
    const middle = Number.isNaN(lag) ? 1 : lag
    return against.some((age) => age > middle) && against.some((age) => age <= middle)
  }

  /** What an expression, and all that it is made of, depends on. */
  #dependsOn(node: tree.Expression): Dependence {
    const known = this.#known.get(node)
    if (known) return known
    if (this.#depth > NESTED_MAX) return NOTHING
    // A name that depends on itself adds nothing to itself.
    this.#known.set(node, NOTHING)
    this.#depth++
    const found = this.#worked(node)
    this.#depth--
    this.#known.set(node, found)
    return found
  }

  #worked(node: tree.Expression): Dependence {
    const name = dotted(node)
    if (name !== null && LAST_BAR.test(name)) return { ...NOTHING, isOfLastBar: true }
    if (name !== null && PRICES.test(name)) return { ...NOTHING, ages: new Set([0]), names: new Set([name]) }
    if (name?.startsWith('strategy.')) return { ...NOTHING, ages: new Set([0]), names: new Set([name]) }
    if (node.kind === 'Index') return agedBy(this.#dependsOn(node.object), this.#number(node.index) ?? NaN)
    if (node.kind === 'Identifier' || (name !== null && this.#values.has(name)))
      return joined(
        this.#given(node).flatMap(({ value, guards }) =>
          [value, ...guards].map((one) => this.#dependsOn(one)),
        ),
      )
    const inBlocks = blocksOfExpression(node).flatMap(({ statements }) => [...statementsBelow(statements)])
    const parts = [...partsOf(node), ...inBlocks.flatMap(expressionsOf)].map((one) => this.#dependsOn(one))
    if (node.kind === 'Call') parts.push(...this.#ofCall(node))
    if (node.kind === 'Binary' && COMPARES.test(node.operator))
      parts.push(comparison(this.#sideOf(node.left), this.#sideOf(node.right)))
    return joined(parts)
  }

  /** How old a side of a comparison is: of `x[2]` 2, whatever x itself is made of. */
  #sideOf(node: tree.Expression): ReadonlySet<number> {
    const [only, ...more] = node.kind === 'Identifier' ? this.#given(node) : []
    const side = only !== undefined && more.length === 0 && only.value.kind === 'Index' ? only.value : node
    const age = side.kind === 'Index' ? this.#number(side.index) : null
    return age === null ? this.#dependsOn(node).ages : new Set([age])
  }

  #ofCall(call: tree.Call): Dependence[] {
    const callee = dotted(call.callee) ?? ''
    const body = this.#functions.get(methodName(call))?.body.statements ?? []
    const parts = [...statementsBelow(body)].flatMap(expressionsOf).map((one) => this.#dependsOn(one))
    if (/(?:^|\.)pivot(?:high|low)$/.test(callee)) parts.push({ ...NOTHING, isPivot: true })
    if (!SERIES.test(callee)) return parts
    const length = call.arguments.at(-1)?.value
    const oldest = length && WINDOW.test(callee) ? [(this.#number(length) ?? NaN) - 1] : []
    return [...parts, { ...NOTHING, ages: new Set([0, ...oldest]), names: new Set([callee]) }]
  }

  /** What a name, or the field of one, was given. */
  #given(node: tree.Expression): readonly Given[] {
    return (this.#values.get(dotted(node) ?? '') ?? []).filter(({ value }) => value !== node)
  }

  /** A price, or a source that a user chooses, which an input may switch off. */
  #isMovedAsItIs(node: tree.Expression, depth = 0): boolean {
    if (depth > DEPTH_MAX) return false
    if (MOVED_AS_IT_IS.test(dotted(node) ?? '')) return true
    if (node.kind === 'Call') {
      const name = dotted(node.callee) ?? ''
      return (
        name === 'input.source' ||
        (name === 'input' && node.arguments.some(({ value }) => this.#isMovedAsItIs(value)))
      )
    }
    if (node.kind === 'Ternary')
      return (
        this.#dependsOn(node.test).ages.size === 0 &&
        [node.consequent, node.alternate].every((one) => this.#isMovedAsItIs(one, depth + 1))
      )
    const given = node.kind === 'Identifier' ? this.#given(node) : []
    return given.length > 0 && given.every(({ value }) => this.#isMovedAsItIs(value, depth + 1))
  }

  /** The number that an expression evaluates to while inputs stand as they are; null if the text does not tell. */
  #number(node: tree.Expression, depth = 0): number | null {
    if (depth > DEPTH_MAX) return null
    if (node.kind === 'Number') return node.value
    if (node.kind === 'Unary' && node.operator !== 'not') {
      const value = this.#number(node.operand, depth + 1)
      return value === null ? null : node.operator === '-' ? -value : value
    }
    if (node.kind === 'Binary') {
      const [a, b] = [this.#number(node.left, depth + 1), this.#number(node.right, depth + 1)]
      const work = {
        '+': (x: number, y: number) => x + y,
        '-': (x: number, y: number) => x - y,
        '*': (x: number, y: number) => x * y,
        '/': (x: number, y: number) => x / y,
      }[node.operator as '+']
      return a === null || b === null || work === undefined ? null : work(a, b)
    }
    if (node.kind === 'Call' && /^input(?:\.\w+)?$/.test(dotted(node.callee) ?? '')) {
      const preset = argumentValue(node, 0, 'defval')
      return preset === null ? null : this.#number(preset, depth + 1)
    }
    const [only, ...more] = node.kind === 'Identifier' ? this.#given(node) : []
    return only === undefined || more.length > 0 ? null : this.#number(only.value, depth + 1)
  }

  #isMinus(node: tree.Expression, depth = 0): boolean {
    if (depth > DEPTH_MAX) return false
    if (node.kind === 'Unary') return node.operator === '-'
    if (node.kind === 'Binary' && (node.operator === '+' || node.operator === '-'))
      return this.#isMinus(node.left, depth + 1)
    return (
      node.kind === 'Identifier' && this.#given(node).some(({ value }) => this.#isMinus(value, depth + 1))
    )
  }
}

/** The function's own name: `f` of `f(x)`, `m` of `x.m()`. */
function methodName({ callee }: tree.Call): string {
  return callee.kind === 'Member' ? callee.property.name : (dotted(callee) ?? '')
}

/** Arguments by their places; a method's object comes first. */
function argumentsOf(call: tree.Call): tree.Expression[] {
  const { callee } = call
  const isMethod =
    callee.kind === 'Member' &&
    !/^(?:array|label|line|box|polyline|chart|math|ta|point)$/.test(
      dotted(callee.object)?.split('.').at(-1) ?? '',
    )
  const object = isMethod ? [callee.object] : []
  return [...object, ...call.arguments.filter(({ name }) => name === null).map(({ value }) => value)]
}

function argumentNamed(call: tree.Call, name: string): tree.Expression | null {
  return call.arguments.find((one) => one.name?.name === name)?.value ?? null
}

/** `mark.set_x(…)` of a label; the names of these methods are of one kind of drawing each. */
function drawingOfMethod(call: tree.Call): string | null {
  if (call.callee.kind !== 'Member') return null
  const ending = `.${call.callee.property.name}`
  return ending === '.new' ? null : (Object.keys(DRAWN).find((name) => name.endsWith(ending)) ?? null)
}
