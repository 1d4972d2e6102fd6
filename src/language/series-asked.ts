// Which series a script is going to ask for, told from its tree.
//
// A small abstract interpretation: of each expression the set of texts it may be worth. A ternary may be either side, an
// input what the user chose, a parameter whatever any call of its function hands in, a variable what any line gives it.
// Whatever takes more than that to tell (a loop over an array of symbols) is left out; the run asks for it when it gets
// there. Too many rather than too few: a series too many costs a look into the cache, one too few an interruption.

import { exchangeRate } from '../market/exchange-rates.ts'
import { canBuild, compareIntervals, formatInterval, parseInterval, toTimeframe } from '../market/interval.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import type * as tree from './1-parse/tree.ts'
import { decodeTicker } from './runtime/ticker.ts'
import { REQUESTS_MAX } from './runtime/limits.ts'
import { argumentValue, dotted, expressionsOf, partsOf, statementsBelow } from './tree-walk.ts'

/** What a script is going to run on. */
export interface Chart {
  readonly symbol: SymbolInfo
  readonly interval: string
  /** What the user chose, by the input's title or variable name, as a run takes it. */
  readonly inputs: Readonly<Record<string, unknown>>
}

export interface NamedSeries {
  /** '' = any exchange that has the symbol (a pair of currencies). */
  readonly exchange: string
  readonly symbol: string
  /** Our spelling. */
  readonly interval: string
}

/** Texts an expression may be worth, or the elements of an array; null among them = something else, which nobody knows. */
type Texts = ReadonlySet<string | null>
const UNKNOWN: ReadonlySet<string | null> = new Set([null])
/** The most series of one expression: a script hardly needs more, and sums of sums multiply. */
const TEXTS_MAX = 256
/** No symbol is that long. */
const TEXT_MAX = 256
/** The longest chain of names that stand for names, since the stack is limited. */
const DEPTH_MAX = 300

const SECURITY: ReadonlySet<string> = new Set(['request.security', 'request.security_lower_tf', 'security'])
const CURRENCY_RATE = 'request.currency_rate'

/** Each once, at most as many as a script may ask for. */
export function seriesAsked(script: tree.Script, declaration: tree.Call | null, chart: Chart): NamedSeries[] {
  const texts = new PossibleTexts(script.statements, { ...chart, version: script.version ?? 6 })
  const found = new Map<string, NamedSeries>()
  const add = (one: NamedSeries): void => {
    if (found.size < REQUESTS_MAX) found.set(`${one.exchange}:${one.symbol} ${one.interval}`, one)
  }
  const rate = (from: string, to: string): void => {
    if (from === to || from === '' || to === '' || from === 'NONE' || to === 'NONE') return
    exchangeRate(from, to, (pair) => {
      add({ exchange: '', symbol: pair, interval: '1d' })
      return null
    })
  }
  const currency = declaration === null ? null : argumentValue(declaration, Number.NaN, 'currency')
  if (currency !== null) for (const one of known(texts.of(currency, null))) rate(chart.symbol.currency, one)
  for (const { call, name, owner } of texts.calls) {
    if (SECURITY.has(name)) {
      const symbols = texts.ofArgument(call, 0, 'symbol', owner)
      const intervals = texts.ofArgument(call, 1, name === 'security' ? 'resolution' : 'timeframe', owner)
      const isLower = name === 'request.security_lower_tf'
      for (const symbol of known(symbols))
        for (const interval of known(intervals)) {
          const asked = seriesOf(symbol, interval, isLower, chart)
          if (asked !== null) add(asked)
        }
    } else if (name === CURRENCY_RATE) {
      for (const from of known(texts.ofArgument(call, 0, 'from', owner)))
        for (const to of known(texts.ofArgument(call, 1, 'to', owner))) rate(from, to)
    }
  }
  return [...found.values()]
}

/** null if the chart's own bars serve, or nothing does. */
function seriesOf(symbol: string, written: string, isLower: boolean, chart: Chart): NamedSeries | null {
  const ticker = decodeTicker(symbol)
  const own = chart.symbol
  const exchange = ticker.exchange === '' ? own.exchange : ticker.exchange
  const isOwn = ticker.symbol === '' || (exchange === own.exchange && ticker.symbol === own.symbol)
  const wanted = parseInterval(written === '' ? chart.interval : written)
  const shown = parseInterval(chart.interval)
  if (wanted === null || shown === null) return null
  const order = compareIntervals(wanted, shown)
  if (isLower ? order > 0 || (isOwn && order === 0) : isOwn && (order === 0 || canBuild(wanted, shown)))
    return null
  return { exchange, symbol: isOwn ? own.symbol : ticker.symbol, interval: formatInterval(wanted) }
}

interface KnownCall {
  readonly call: tree.Call
  readonly name: string
  /** The function that contains it. */
  readonly owner: Owner | null
}

/** A function: what its names may be given. */
interface Owner {
  readonly node: tree.FunctionDeclaration
  readonly given: Map<string, tree.Expression[]>
}

class PossibleTexts {
  readonly calls: KnownCall[] = []
  readonly #chart: Chart & { readonly version: number }
  readonly #globals = new Map<string, tree.Expression[]>()
  readonly #functions = new Map<string, Owner[]>()
  readonly #callsOf = new Map<string, KnownCall[]>()
  /** UNKNOWN while it is being computed: a value that depends on itself adds nothing. */
  readonly #names = new Map<Owner | null, Map<string, Texts>>()
  readonly #known = new Map<tree.Expression, Texts>()
  /** The variable a call at the top is assigned to. */
  readonly #inputNames = new Map<tree.Call, string>()
  #depth = 0

  constructor(statements: readonly tree.Statement[], chart: Chart & { readonly version: number }) {
    this.#chart = chart
    for (const one of statements) {
      if (one.kind !== 'FunctionDeclaration') this.#read([one], null)
      else {
        const owner = { node: one, given: new Map<string, tree.Expression[]>() }
        pushTo(this.#functions, one.name.name, owner)
        this.#read([one], owner)
      }
    }
    for (const call of this.calls) pushTo(this.#callsOf, call.name, call)
  }

  ofArgument(call: tree.Call, place: number, name: string, owner: Owner | null): Texts {
    const given = argumentValue(call, place, name)
    return given === null ? UNKNOWN : this.of(given, owner)
  }

  of(node: tree.Expression, owner: Owner | null): Texts {
    const before = this.#known.get(node)
    if (before !== undefined) return before
    if (this.#depth === DEPTH_MAX) return UNKNOWN
    this.#known.set(node, UNKNOWN)
    this.#depth++
    const texts = this.#work(node, owner)
    this.#depth--
    this.#known.set(node, texts)
    return texts
  }

  #read(statements: readonly tree.Statement[], owner: Owner | null): void {
    const given = owner?.given ?? this.#globals
    for (const one of statementsBelow(statements)) {
      const loop = one.kind === 'ExpressionStatement' ? one.expression : null
      if (loop?.kind === 'ForIn') pushTo(given, loop.value.name, loop.collection)
      else if (one.kind === 'VariableDeclaration') {
        pushTo(given, one.name.name, one.value)
        if (owner === null && one.value.kind === 'Call') this.#inputNames.set(one.value, one.name.name)
      } else if (one.kind === 'Assignment' && one.target.kind === 'Identifier')
        pushTo(given, one.target.name, one.value)
      const open = [...expressionsOf(one)]
      for (let node = open.pop(); node !== undefined; node = open.pop()) {
        const name = node.kind === 'Call' ? dotted(node.callee) : null
        if (node.kind === 'Call' && name !== null) this.calls.push({ call: node, name, owner })
        open.push(...partsOf(node))
      }
    }
  }

  #work(node: tree.Expression, owner: Owner | null): Texts {
    switch (node.kind) {
      case 'String':
      case 'Number':
      case 'Bool':
        return new Set([String(node.value)])
      case 'Identifier':
        return this.#name(node.name, owner)
      case 'Member': {
        const name = dotted(node)
        return name === null ? UNKNOWN : this.#builtin(name)
      }
      case 'Binary':
        return this.#binary(node, owner)
      case 'Ternary': {
        const test = only(this.of(node.test, owner))
        if (test !== null) return this.of(test === 'true' ? node.consequent : node.alternate, owner)
        return union([this.of(node.consequent, owner), this.of(node.alternate, owner)])
      }
      case 'If': {
        const test = only(this.of(node.test, owner))
        if (test !== null) return this.#last(test === 'true' ? node.consequent : node.alternate, owner)
        return union([this.#last(node.consequent, owner), this.#last(node.alternate, owner)])
      }
      case 'Switch':
        return this.#switch(node, owner)
      case 'Call':
        return this.#call(node, owner)
      default:
        return UNKNOWN
    }
  }

  #binary({ operator, left, right }: tree.Binary, owner: Owner | null): Texts {
    if (operator === '+') return sums(this.of(left, owner), this.of(right, owner))
    if (operator !== '==' && operator !== '!=') return UNKNOWN
    const [a, b] = [only(this.of(left, owner)), only(this.of(right, owner))]
    return a === null || b === null ? UNKNOWN : new Set([String((a === b) === (operator === '=='))])
  }

  /** All that may be chosen: the cases up to the first that is for sure. */
  #switch({ subject, cases }: tree.Switch, owner: Owner | null): Texts {
    const wanted = subject === null ? 'true' : only(this.of(subject, owner))
    const found: Texts[] = []
    for (const { test, body } of cases) {
      const own = test === null ? wanted : only(this.of(test, owner))
      if (own !== null && wanted !== null && own !== wanted) continue
      found.push(this.#last(body, owner))
      if (own !== null && own === wanted) break
    }
    return union(found)
  }

  #last(block: tree.Block | null, owner: Owner | null): Texts {
    const last = block?.statements.at(-1)
    if (last?.kind === 'ExpressionStatement') return this.of(last.expression, owner)
    if (last?.kind === 'VariableDeclaration' || last?.kind === 'Assignment') return this.of(last.value, owner)
    return UNKNOWN
  }

  #name(name: string, owner: Owner | null): Texts {
    const place = owner === null ? -1 : owner.node.parameters.findIndex((one) => one.name.name === name)
    const isLocal = place >= 0 || (owner?.given.has(name) ?? false)
    const holder = isLocal ? owner : null
    const names = this.#names.get(holder) ?? new Map<string, Texts>()
    this.#names.set(holder, names)
    const before = names.get(name)
    if (before !== undefined) return before
    names.set(name, UNKNOWN)
    const given = (isLocal ? owner?.given : this.#globals)?.get(name) ?? []
    const texts = union([
      ...given.map((one) => this.of(one, holder)),
      ...(place >= 0 && owner !== null ? this.#handedIn(owner.node, place) : []),
      ...(isLocal || given.length > 0 ? [] : [this.#builtin(name)]),
    ])
    names.set(name, texts)
    return texts
  }

  /** What the calls of a function hand in for a parameter. */
  #handedIn(node: tree.FunctionDeclaration, place: number): Texts[] {
    const parameter = node.parameters[place]
    if (parameter === undefined) return []
    const calls = this.#callsOf.get(node.name.name) ?? []
    const found = calls.map(({ call, owner }) => this.ofArgument(call, place, parameter.name.name, owner))
    return parameter.default === null ? found : [...found, this.of(parameter.default, null)]
  }

  #call(call: tree.Call, owner: Owner | null): Texts {
    const name = dotted(call.callee)
    if (name === null) return UNKNOWN
    if (name === 'input' || name.startsWith('input.')) return this.#input(call, owner)
    const functions = this.#functions.get(name)
    if (functions !== undefined) return union(functions.map((one) => this.#last(one.node.body, one)))
    if (name === 'ticker.new' || name === 'tickerid') {
      const prefixes = this.ofArgument(call, 0, 'prefix', owner)
      return sums(sums(prefixes, new Set([':'])), this.ofArgument(call, 1, 'ticker', owner))
    }
    if (name === 'array.from') return union(call.arguments.map(({ value }) => this.of(value, owner)))
    if (name === 'str.split')
      return split(this.ofArgument(call, 0, 'string', owner), this.ofArgument(call, 1, 'separator', owner))
    if (name === 'array.get') return this.ofArgument(call, 0, 'id', owner)
    if (call.callee.kind === 'Member' && call.callee.property.name === 'get')
      return this.of(call.callee.object, owner)
    if (name === 'ticker.inherit') return this.ofArgument(call, 1, 'symbol', owner)
    // The kind of its bars does not change where they come from.
    const isTicker = name.startsWith('ticker.') || CHART_TICKERS.has(name)
    if (!isTicker) return UNKNOWN
    const [first] = call.arguments
    return first === undefined ? this.#builtin('syminfo.tickerid') : this.of(first.value, owner)
  }

  /** What the user chose, by title or by the name of the variable; else the default. */
  #input(call: tree.Call, owner: Owner | null): Texts {
    const { inputs } = this.#chart
    const title = argumentValue(call, 1, 'title')
    const names = [title?.kind === 'String' ? title.value : '', this.#inputNames.get(call) ?? '']
    for (const name of names) {
      const chosen = name !== '' && Object.hasOwn(inputs, name) ? inputs[name] : undefined
      if (typeof chosen === 'string' || typeof chosen === 'number' || typeof chosen === 'boolean')
        return new Set([String(chosen)])
    }
    return this.ofArgument(call, 0, 'defval', owner)
  }

  #builtin(name: string): Texts {
    const { symbol, interval, version } = this.#chart
    switch (name) {
      case 'syminfo.tickerid':
      case 'syminfo.main_tickerid':
      case 'tickerid':
        return new Set([`${symbol.exchange}:${symbol.symbol}`])
      case 'syminfo.ticker':
      case 'ticker':
        return new Set([symbol.symbol])
      case 'syminfo.prefix':
        return new Set([symbol.exchange])
      case 'syminfo.currency':
        return new Set([symbol.currency])
      case 'syminfo.basecurrency':
        return new Set(symbol.baseCurrency ? [symbol.baseCurrency] : [])
      case 'timeframe.period':
      case 'timeframe.main_period':
      case 'period':
        return new Set([timeframeText(interval, version)])
      default:
        return name.startsWith('currency.') ? new Set([name.slice('currency.'.length)]) : UNKNOWN
    }
  }
}

const BARE: ReadonlySet<string> = new Set(['1D', '1W', '1M'])
const CHART_TICKERS: ReadonlySet<string> = new Set([
  'heikinashi',
  'renko',
  'kagi',
  'linebreak',
  'pointfigure',
])

/** As timeframe.period has it: `1D`, before version 6 `D`. */
function timeframeText(interval: string, version: number): string {
  const parsed = parseInterval(interval)
  if (parsed === null) return interval
  const text = toTimeframe(parsed)
  return version < 6 && BARE.has(text) ? text.slice(1) : text
}

function pushTo<T>(lists: Map<string, T[]>, name: string, item: T): void {
  const list = lists.get(name)
  if (list === undefined) lists.set(name, [item])
  else list.push(item)
}

/** The text if there is only one; null = there may be several, or any. */
function only(texts: Texts): string | null {
  const [text = null] = texts
  return texts.size === 1 ? text : null
}

function known(texts: Texts): readonly string[] {
  return [...texts].filter((text) => text !== null)
}

function union(sets: readonly Texts[]): Texts {
  const all = new Set<string | null>()
  for (const set of sets) for (const text of set) if (all.size < TEXTS_MAX) all.add(text)
  return all
}

function sums(left: Texts, right: Texts): Texts {
  const all = new Set<string | null>()
  for (const a of left)
    for (const b of right)
      if (all.size < TEXTS_MAX)
        all.add(a === null || b === null || a.length + b.length > TEXT_MAX ? null : a + b)
  return all
}

/** Elements of a list in one text. */
function split(lists: Texts, separators: Texts): Texts {
  const separator = only(separators)
  if (separator === null || separator === '') return UNKNOWN
  return union([...lists].map((list) => new Set(list === null ? [null] : list.split(separator, TEXTS_MAX))))
}
