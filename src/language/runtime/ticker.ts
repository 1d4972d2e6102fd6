// Ticker identifiers: `EXCHANGE:SYMBOL`, and with modifiers what ticker.heikinashi() and its kin answer.
//
// To a script they are just text, to be handed to request.security(). Modifiers travel in the text, the way
// TradingView does it: `={"symbol":"NASDAQ:AAPL","chart":{"kind":"heikinashi"}}`. `decodeTicker` reads both.

const CHART_KINDS = ['heikinashi', 'renko', 'linebreak', 'kagi', 'pointfigure'] as const
export type ChartKind = (typeof CHART_KINDS)[number]

/** How a non-standard chart is built; parameters by Pine's names. */
export interface ChartType {
  readonly kind: ChartKind
  readonly parameters: Readonly<Record<string, number | string | boolean>>
}

export interface TickerId {
  /** '' where the text names none: the script's own exchange. */
  readonly exchange: string
  readonly symbol: string
  /** session.regular, session.extended or a session text; null = the symbol's. */
  readonly session: string | null
  readonly adjustment: string | null
  readonly chart: ChartType | null
}

function plainTicker(text: string): TickerId {
  const colon = text.indexOf(':')
  return {
    exchange: colon < 0 ? '' : text.slice(0, colon).toUpperCase(),
    symbol: colon < 0 ? text : text.slice(colon + 1),
    session: null,
    adjustment: null,
    chart: null,
  }
}

export function encodeTicker(ticker: TickerId): string {
  const symbol = ticker.exchange === '' ? ticker.symbol : `${ticker.exchange}:${ticker.symbol}`
  const modifiers = {
    ...(ticker.session === null ? {} : { session: ticker.session }),
    ...(ticker.adjustment === null ? {} : { adjustment: ticker.adjustment }),
    ...(ticker.chart === null ? {} : { chart: ticker.chart }),
  }
  return Object.keys(modifiers).length === 0 ? symbol : `=${JSON.stringify({ symbol, ...modifiers })}`
}

/** A text that is not one of our identifiers with modifiers counts as a plain ticker. */
export function decodeTicker(text: string): TickerId {
  if (!text.startsWith('={')) return plainTicker(text)
  let parts: unknown
  try {
    parts = JSON.parse(text.slice(1))
  } catch {
    return plainTicker(text)
  }
  const symbol = stringOf(parts, 'symbol')
  if (symbol === null) return plainTicker(text)
  return {
    ...plainTicker(symbol),
    session: stringOf(parts, 'session'),
    adjustment: stringOf(parts, 'adjustment'),
    chart: chartOf(own(parts, 'chart')),
  }
}

function own(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}

function stringOf(value: unknown, name: string): string | null {
  const found = own(value, name)
  return typeof found === 'string' ? found : null
}

function chartOf(value: unknown): ChartType | null {
  const kind = CHART_KINDS.find((name) => name === own(value, 'kind'))
  const given = own(value, 'parameters')
  if (kind === undefined || typeof given !== 'object' || given === null) return null
  const parameters: Record<string, number | string | boolean> = {}
  for (const [name, each] of Object.entries(given))
    if (typeof each === 'number' || typeof each === 'string' || typeof each === 'boolean')
      parameters[name] = each
  return { kind, parameters }
}
