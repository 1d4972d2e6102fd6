// What `backtest --repaint` prints.

import type { Repaint, RepaintFinding } from '../wire/repaint.ts'

export function repaintLines({ clean, samples, findings }: Repaint, script: string): string[] {
  if (clean) return [`${script} shows the same with fewer bars, tested at ${samples} bars.`]
  return findings.flatMap((one) => [
    `${script}${one.line === null ? '' : `:${one.line}:${one.column}`} ${one.cause}: ${one.message}`,
    `    ${whereOf(one, samples)}`,
    `    ${one.remedy}`,
  ])
}

function whereOf({ evidence, plots, trades, samples: found, time }: RepaintFinding, samples: number): string {
  if (evidence === 'text') return 'Told from the text; bars of the past cannot show it.'
  const what = [...(trades ? ['orders'] : []), ...plots].join(', ')
  const when =
    time === null ? '' : `, first on ${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return `Differs: ${what}; on ${found} of ${samples} bars tested${when}.`
}
