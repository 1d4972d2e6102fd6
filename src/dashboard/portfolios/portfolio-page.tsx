// One portfolio: what the money became, what each part did for it, and how the parts go together.

import { call } from '../api-client.ts'
import { asOfText } from '../as-of.ts'
import c from '../backtests/compare-runs.module.css'
import { Curves } from '../backtests/curves.tsx'
import { count, marketText, money, percent, ratio, time, tone, gain } from '../format.ts'
import { attempt, useAnswer } from '../frame/page.tsx'
import { Figures, type Figure } from '../jobs/figures.tsx'
import { JobPage, JobProgress } from '../jobs/job-page.tsx'
import j from '../jobs/jobs.module.css'
import { DataTable, numbers, Numbers } from '../ui/data-table.tsx'
import { navigate } from '../router.ts'
import { showRun } from '../run-script.ts'
import { Button } from '../ui/ui.tsx'
import { bottom } from '../workspace.ts'
import type { Portfolio, PortfolioResult } from '../../wire/portfolio.ts'
import { togetherness } from './portfolio-model.ts'
import s from './portfolios.module.css'
import { buttons, downloadItem } from '../ui/buttons.tsx'
import { Section } from '../frame/section.tsx'

export function PortfolioPage({ id = '' }: { readonly id?: string }) {
  const path = { id }
  const portfolio = useAnswer('GET /api/platform/portfolios/{id}', { path })
  return (
    <JobPage
      kind="portfolio"
      id={id}
      loaded={portfolio}
      job={portfolio.data?.portfolio}
      about={({ portfolio: { parts, asOf } }) =>
        `${count(parts.length)} parts, ${asOfText(asOf)}: ${parts.map(marketText).join(', ')}.`
      }
    >
      {({ portfolio: one, result }) => (
        <div class={j.job}>
          <JobProgress
            job={one}
            stopped="Stopped before it was done."
            label="The parts are run"
            fraction={null}
          >
            The parts are run, bar by bar.
          </JobProgress>
          {result && <Result portfolio={one} result={result} />}
        </div>
      )}
    </JobPage>
  )
}

interface ResultProps {
  readonly portfolio: Portfolio
  readonly result: PortfolioResult
}

function Result({ portfolio, result }: ResultProps) {
  const { whole, currency, capital } = result
  const amount = (value: number) => money(value, currency, { plus: true })
  const figures: readonly Figure[] = [
    ['Net profit', amount(whole.netProfit), gain(whole.netProfitPct), tone(whole.netProfit)],
    ['Open profit', amount(whole.openProfit)],
    [
      'Max drawdown (curve)',
      percent(-whole.maxDrawdownPct),
      `${money(-whole.maxDrawdown, currency)} at the closes of bars`,
      tone(-whole.maxDrawdown),
    ],
    ['Sharpe ratio', ratio(whole.sharpe)],
    ['A year (CAGR)', gain(whole.cagr)],
    ['Trades', count(whole.trades), `${percent(whole.winRate)} won`],
    ['Bound as margin', percent(whole.marginPeakPct), 'of equity, at most'],
    ['Margin calls', count(whole.marginCalls)],
  ]
  return (
    <>
      <p class={j.sentence}>
        {money(capital, currency)} became {money(whole.final, currency)}.
      </p>
      <Figures of={figures} class={s.figures} />
      <Curve portfolio={portfolio} result={result} />
      <Section class={j.section} title="What each part did">
        <p class={j.note}>Choose a part to see it on its chart, with its trades.</p>
        <Parts portfolio={portfolio} result={result} />
        {result.parts.flatMap(({ warnings = [] }, i) =>
          warnings.map((warning) => (
            <p key={`${i} ${warning}`} class={j.note}>
              {i + 1} {portfolio.parts[i]!.name}: {warning}
            </p>
          )),
        )}
      </Section>
      <p class={s.files}>
        {buttons(
          ['Trades', 'Equity', 'Parts'].map((file) =>
            downloadItem(
              `${file} as CSV`,
              `/api/platform/portfolios/${portfolio.id}/${file.toLowerCase()}.csv`,
            ),
          ),
          'small',
        )}
      </p>
      {portfolio.parts.length > 1 && <Correlation portfolio={portfolio} result={result} />}
    </>
  )
}

/** Colours of parts; the whole has the first. */
const PART_COLORS = 11

function Curve({ portfolio, result: { curve, capital, currency } }: ResultProps) {
  const report = { initialCapital: capital }
  const parts = curve.parts.map((earned, i) => ({
    id: String(i),
    name: `${i + 1} ${portfolio.parts[i]!.name}`,
    color: 1 + (i % PART_COLORS),
    report,
    times: curve.time,
    equity: earned.map((value) => capital + value),
  }))
  const whole = { id: 'all', name: 'All', color: 0, report, times: curve.time, equity: curve.equity }
  const rows = curve.time.map((at, i) => ({ at, i }))
  const amount = (value: number | null | undefined) => money(value, currency, { plus: true })
  return (
    <Section class={c.curves} title="Equity">
      <Curves runs={[...parts.toReversed(), whole]} currency={currency} />
      <Numbers
        label="Equity"
        rows={rows}
        columns={({ own, numbers }) => [
          own('at', 'Until', 'date', ({ at }) => time(at, 'UTC', false), { sort: ({ at }) => at }),
          numbers(
            'equity',
            'Equity',
            ({ i }) => curve.equity[i],
            (value) => money(value, currency),
          ),
          ...portfolio.parts.map(({ name }, part) =>
            numbers(`part ${part}`, `${part + 1} ${name}`, ({ i }) => curve.parts[part]?.[i], amount),
          ),
        ]}
      />
    </Section>
  )
}

/** Shows what a part did on the chart of its market, with its report. */
async function openPart({ id, name, parts }: Portfolio, part: number): Promise<void> {
  const path = { id, part: String(part) }
  const { report } = await call('GET /api/platform/portfolios/{id}/parts/{part}', { path })
  const { tracks } = await call('GET /api/platform/portfolios/{id}/parts/{part}/tracks', { path })
  const { name: own, source = '' } = parts[part]!
  showRun({ id: null, name: `${name}: ${own}`, source, report, tracks })
  bottom.value = 'report'
  navigate('/')
}

type PartRow = PortfolioResult['parts'][number] & { readonly i: number }

function Parts({ portfolio, result }: ResultProps) {
  const { currency } = result
  const rows: readonly PartRow[] = result.parts.map((part, i) => ({ ...part, i }))
  const number = (
    of: Exclude<keyof PartRow, 'warnings'>,
    head: string,
    shown: Parameters<typeof numbers>[3],
  ) => numbers<PartRow>(of, head, (row) => row[of], shown)
  const amount = (value: number | null | undefined) => money(value, currency, { plus: true })
  return (
    <DataTable
      label="Parts"
      rows={rows}
      columns={[
        {
          of: 'i',
          head: 'Part',
          look: 'main',
          sort: ({ i }) => i,
          cell: ({ i }) => (
            <Button
              size="small"
              variant="quiet"
              class={s.name ?? ''}
              title="On the chart, with its trades and its report"
              aria-label={`Show part ${i + 1}, ${portfolio.parts[i]!.name}, on the chart`}
              onClick={() => attempt(openPart(portfolio, i))}
            >
              {i + 1} {portfolio.parts[i]!.name}
            </Button>
          ),
        },
        { of: 'market', head: 'Market', cell: ({ i }) => marketText(portfolio.parts[i]!) },
        numbers('priority', 'Priority', ({ i }: PartRow) => portfolio.parts[i]!.priority, count),
        number('netProfit', 'Net profit', amount),
        number('openProfit', 'Open', amount),
        number('contribution', 'Of the profit', percent),
        number('risk', 'Of the risk', percent),
        number('correlation', 'With the others', (value) => ratio(value)),
        number('maxDrawdown', 'Max drawdown (curve)', (value) => money(-(value ?? NaN), currency)),
        number('trades', 'Trades', count),
        number('winRate', 'Won', percent),
        number('marginCalls', 'Margin calls', count),
      ]}
    />
  )
}

function Correlation({ portfolio, result: { correlation, period } }: ResultProps) {
  const rows = correlation.map((values, i) => ({ values, i }))
  return (
    <Section class={j.section} title="How they go together">
      <DataTable
        label="Correlation"
        caption={`Of what they earn from ${period} to ${period}: 1 is in step, 0 independent, −1 opposite.`}
        rows={rows}
        fixed
        columns={({ own }) => [
          own('i', 'Part', 'head', ({ i }) => `${i + 1} ${portfolio.parts[i]!.name}`),
          ...correlation.map((_, other) =>
            own(`with ${other}`, String(other + 1), 'number', ({ values, i }) => (
              <span title={i === other ? 'itself' : togetherness(values[other] ?? null)}>
                {ratio(values[other])}
              </span>
            )),
          ),
        ]}
      />
    </Section>
  )
}
