// Why a run differs from TradingView's list of trades, as lines for a terminal.

import type { Explanation, ExplanationCause } from '../wire/explanation.ts'

const OTHERS_SHOWN = 5

export function explanationLines(found: Explanation): string[] {
  const { message, causes, tried, notes, runs, complete } = found
  const others = tried
    .filter(({ kind }) => !causes.some((cause) => cause.kind === kind))
    .slice(0, OTHERS_SHOWN)
  return [
    `Why: ${message}`,
    ...causes.flatMap((cause) => {
      const { since } = cause
      const from = since ? [`from bar ${since.bar} on, ${new Date(since.time).toISOString()}`] : []
      // One cause alone is named in the message.
      const line = causes.length > 1 ? [cause.message, ...from] : from
      return line.length > 0 ? [`  ${line.join(', ')}`] : []
    }),
    ...(flagsFor(found) === '' ? [] : [`  Run it with ${flagsFor(found)}`]),
    ...(others.length > 0 ? ['Nearer alone:'] : []),
    ...others.map((one) => `  ${one.message}: ${one.exact} of ${found.expected} agree`),
    ...notes.map((note) => `Note: ${note.message}`),
    `${runs} runs tried${complete ? '' : '; the time was over before all that is likely was tried'}.`,
  ]
}

/** The part of it that flags can express. */
function flagsFor({
  overrides,
  inputs,
  symbol,
  bars,
  asOf,
}: Pick<ExplanationCause, 'overrides' | 'inputs' | 'symbol' | 'bars' | 'asOf'>): string {
  return [
    ...(asOf === null ? [] : [`--as-of ${asOf}`]),
    ...(Object.keys(overrides).length > 0 ? [`--set '${JSON.stringify(overrides)}'`] : []),
    ...(Object.keys(inputs).length > 0 ? [`--inputs '${JSON.stringify(inputs)}'`] : []),
    ...(Object.keys(symbol).length > 0 ? [`--syminfo with ${JSON.stringify(pineNames(symbol))}`] : []),
    ...(bars === null ? [] : [`--last ${bars}`]),
  ].join(' ')
}

/** `--syminfo` takes facts by their Pine names. */
function pineNames(symbol: ExplanationCause['symbol']): Record<string, unknown> {
  const names: Readonly<Record<string, string>> = {
    minQuantity: 'mincontract',
    pointValue: 'pointvalue',
    priceScale: 'pricescale',
    minMove: 'minmove',
  }
  return Object.fromEntries(Object.entries(symbol).map(([name, value]) => [names[name] ?? name, value]))
}
