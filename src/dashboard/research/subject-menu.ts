// What can be done with a script or a study: the same items in the same order wherever one stands.

import { call } from '../api-client.ts'
import { openCopy, openScript } from '../editor/documents.ts'
import { askFirst, attempt } from '../frame/page.tsx'
import { openReport } from '../open-report.ts'
import { doubt } from '../report/asked.tsx'
import { href, navigate } from '../router.ts'
import { runBars, runScript } from '../run-script.ts'
import { addStudy } from '../studies/studies.ts'
import { copyText } from '../ui/copy-text.ts'
import { item, type MenuItem } from '../ui/menu.tsx'
import { alertAt, bottom, market, type Subject } from '../workspace.ts'
import { carried, EDITOR, settingsOf } from './subject.ts'

export const askToDelete = (name: string, run: () => Promise<void>): void =>
  askFirst({
    title: `Delete “${name}”?`,
    text: 'Its versions go with it. Backtests that were run with it stay.',
    action: 'Delete script',
    run,
  })

/** The place of a script, or one of its tabs, with the inputs that it has here. */
export function goTo(subject: Subject, tab: string): void {
  carried.value = subject
  navigate(`/research/${encodeURIComponent(subject.id)}${tab === '' ? '' : `/${tab}`}`)
}

/** `where` it stands: what it is on already is not offered. */
export function subjectItems(subject: Subject, where: 'place' | 'chart' | 'editor'): readonly MenuItem[] {
  const { id, kind, stored } = subject
  const go = (tab: string) => goTo(subject, tab)
  const isStrategy = kind === 'strategy'
  const there = item('Open in Research', 'code', () => go(''))
  if (kind === 'library' || kind === 'draft') return where === 'place' ? [] : [there]
  const onChart = isStrategy ? 'Run on the chart' : 'Put on the chart'
  return [
    where === 'place' ? item(onChart, 'candles', () => attempt(putOnChart(subject))) : there,
    item('Add alert…', 'bell', () => (alertAt.value = { subject, market: market.peek() })),
    ...(isStrategy ? [item('Optimise…', 'tune', () => go('optimise'))] : []),
    item('Scan a list…', 'search', () => go('scan')),
    ...(isStrategy
      ? [
          item('Follow from now…', 'play', () => go('forward')),
          item('Put in a portfolio…', 'layers', () => attempt(putInPortfolio(subject))),
        ]
      : []),
    item('Does it repaint?', 'eye', () => attempt(testForRepaint(subject))),
    item('Share…', 'external', () =>
      stored?.visibility === 'public'
        ? copyText(new URL(href(`/research/${id}`), location.href).href, 'Link copied')
        : go('publish'),
    ),
  ]
}

/** Runs a strategy from the editor, where its trades and its report are; lays an indicator over the bars. */
export async function putOnChart(subject: Subject): Promise<void> {
  const { id, name, source, inputs, kind, stored } = subject
  navigate('/')
  if (kind !== 'strategy') {
    const from = stored ? `script:${id}` : id
    return addStudy({ name, shortName: name, source, from, inputs })
  }
  if (stored) await openScript(id)
  else if (id === EDITOR) await runScript()
  else openCopy(name, source, subject)
  bottom.value = 'report'
}

/** Runs it over the market on the chart, and keeps what came of it. */
async function keep(subject: Subject): Promise<string> {
  const { name, source } = subject
  const body = { name, ...market.peek(), bars: runBars.peek(), source, ...settingsOf(subject) }
  return (await call('POST /api/platform/backtests', { body })).id
}

async function putInPortfolio(subject: Subject): Promise<void> {
  navigate(`/research/portfolios/new?runs=${await keep(subject)}`)
}

async function testForRepaint(subject: Subject): Promise<void> {
  await openReport(await keep(subject))
  await doubt()
}
