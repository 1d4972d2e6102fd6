// The button that puts a script on the chart, on the market that is there.

import { intervalText } from '../format.ts'
import { attempt, pageStyles as p } from '../frame/page.tsx'
import { Button } from '../ui/ui.tsx'
import { market, type Subject } from '../workspace.ts'
import { putOnChart } from './subject-menu.ts'

export function RunButton({ subject }: { readonly subject: Subject }) {
  const { symbol, interval } = market.value
  if (subject.kind === 'draft' || subject.kind === 'library') return null
  return (
    <p class={p['actions']} style={{ marginTop: '16px' }}>
      <Button variant="primary" icon="play" onClick={() => attempt(putOnChart(subject))}>
        {subject.kind === 'strategy' ? 'Run on' : 'Put on'} {symbol} {intervalText(interval)}
      </Button>
    </p>
  )
}
