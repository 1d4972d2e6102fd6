// Figures of a report by the words that people search for: an objective or a condition is written with the names of the API,
// and read as `net profit / max drawdown`.

import type { Sweep } from '../../wire/sweep.ts'

const WORDS: Readonly<Record<string, string>> = {
  cagr: 'CAGR',
  sharpe: 'Sharpe ratio',
  sortino: 'Sortino ratio',
}
const SIDES: Readonly<Record<string, string>> = { long: ' of longs', short: ' of shorts' }
const SIGNS: Readonly<Record<string, string>> = { '>=': '≥', '<=': '≤', '!=': '≠', '==': '=' }

/** `netProfit / maxDrawdown` → `net profit / max drawdown`. Functions and texts in quotes stay as they are. */
export const inWords = (expression: string): string =>
  expression
    .replaceAll(/"[^"]*"|[A-Za-z][\w.]*(?![\w.]|\s*\()/g, (name) =>
      name.startsWith('"') ? name : wordsOf(name),
    )
    .replaceAll(/[<>!=]=/g, (sign) => SIGNS[sign]!)

/** What is looked for: `net profit, if trades ≥ 30`. */
export function wantedText({ objective, constraints }: Pick<Sweep, 'objective' | 'constraints'>): string {
  const limits = constraints.length > 0 ? `, if ${constraints.map(inWords).join(' and ')}` : ''
  return inWords(objective) + limits
}

/** The other way round: `net profit / max drawdown` → `netProfit / maxDrawdown`. Names of the API stay as they are. */
export function inNames(expression: string, figures: readonly string[]): string {
  const byWords = figures
    .map((name) => [wordsOf(name), name] as const)
    .toSorted(([a], [b]) => b.length - a.length)
  const phrase = new RegExp(
    `"[^"]*"|(?<![\\w.])(?:${byWords.map(([words]) => words.replaceAll(/\W/g, '\\$&')).join('|')})(?![\\w%])`,
    'gi',
  )
  return expression.replaceAll(phrase, (found) =>
    found.startsWith('"')
      ? found
      : (byWords.find(([words]) => words.toLowerCase() === found.toLowerCase())?.[1] ?? found),
  )
}

function wordsOf(name: string): string {
  const [field = '', part = ''] = name.split('.').toReversed()
  const words = field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/ pct$/, ' in %')
  return (WORDS[field] ?? words) + (SIDES[part] ?? '')
}
