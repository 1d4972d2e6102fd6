// What a run says besides its results: the warnings of the report. What ends a run is in `failing.ts`.

import { seriesOfRate } from '../../market/exchange-rates.ts'
import type { RunWarning } from './message.ts'

export const logsCut = (most: number): RunWarning => ({
  code: 'logs-cut',
  message: `Only the first ${most.toLocaleString('en')} log lines are kept.`,
})
export const noRates = (from: string, to: string): RunWarning => ({
  code: 'no-rates',
  message: `What one ${from} is in ${to} is taken for 1, since no rate is known. Import or fetch ${seriesOfRate(from, to)}.`,
})
export const noBars = (what: string): RunWarning => ({
  code: 'no-bars',
  message: `There are no ${what} here; request answers na.`,
})
export const noSource = (builtin: string): RunWarning => ({
  code: 'no-source',
  message: `\`${builtin}()\` has no source of data here and answers na.`,
})
export const noSides = (): RunWarning => ({
  code: 'no-sides',
  message:
    'Of these bars it is not known what was bought and sold, and `request.footprint()` answers na. Import trades that have a side.',
})
export const noSidedBars = (): RunWarning => ({
  code: 'no-sided-bars',
  message:
    'What traded at each price is not known: the rows of `request.footprint()` are na. They come from shorter bars that know their sides. Import the trades also as bars of `1s`.',
})
export const sidedBarsDiffer = (): RunWarning => ({
  code: 'sided-bars-differ',
  message:
    'Shorter bars that know their sides do not add up to each bar: there the rows of `request.footprint()` are na. Import the same trades as both.',
})
export const tooManyPriceRows = (most: number): RunWarning => ({
  code: 'too-many-price-rows',
  message: `A footprint of more than ${most.toLocaleString('en')} rows has none: its rows are na. Ask \`request.footprint()\` for more ticks a row.`,
})
export const boxOfLastBar = (kind: string, style: string): RunWarning => ({
  code: 'box-of-last-bar',
  message: `\`ticker.${kind}()\` with "${style}" takes its box from the last bar, as on TradingView: past bars are built with a size nobody knew then.`,
})
export const sessionInferred = (symbol: string, session: string, zone: string): RunWarning => ({
  code: 'session-inferred',
  message: `The trading hours of ${symbol} are not known; its bars keep to ${session} (${zone}) as the chart's do, so those are taken. State them when you import it.`,
})
export const notASession = (text: string): RunWarning => ({
  code: 'not-a-session',
  message: `'${text}' names no hours of a session: the symbol's own session counts.`,
})
export const plotElsewhere = (input: string): RunWarning => ({
  code: 'plot-elsewhere',
  message: `Input "${input}" reads the plot of another script, which has values on the chart's bars alone: in request.*() it is na.`,
})
/** What an indicator with a timeframe of its own leaves out. */
export const drawingsLeftOut = (): RunWarning => ({
  code: 'drawings-of-timeframe',
  message:
    'An indicator with a timeframe of its own draws no lines, labels, boxes or tables: what it plots is shown.',
})
export const messagesLeftOut = (): RunWarning => ({
  code: 'messages-of-timeframe',
  message:
    'An indicator with a timeframe of its own says nothing by alert() or log.*(): use alertcondition(), or a request.security() of that timeframe.',
})
