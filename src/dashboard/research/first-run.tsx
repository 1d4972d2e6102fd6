// What Research shows before anything was run: an example over the bars that are there, with what it would have made.

import { call } from '../api-client.ts'
import { count, counted, marketText, money, percent, time, tone } from '../format.ts'
import { attempt, pageStyles as p, Show, useLoad } from '../frame/page.tsx'
import { SAMPLES } from '../editor/samples.ts'
import { openReport } from '../open-report.ts'
import { navigate } from '../router.ts'
import { market } from '../workspace.ts'
import { Button } from '../ui/ui.tsx'
import { Figures } from '../jobs/figures.tsx'
import j from '../jobs/jobs.module.css'

export function FirstRun() {
  const sample = SAMPLES[0]!
  const body = { name: sample.name, ...market.value, bars: 20_000, source: sample.source, inputs: {} }
  const run = useLoad((signal) => call('POST /api/platform/backtests/preview', { body, signal }), [])
  const keep = async () => openReport((await call('POST /api/platform/backtests', { body })).id)
  return (
    <div class={j.job}>
      <section class={p['section']}>
        <h2>An example: {sample.name}</h2>
        <p>{sample.about}</p>
        <Show of={run}>
          {({ result: { report } }) => {
            const { summary, range } = report
            return (
              <>
                <p class="muted">
                  {marketText(report)} · {counted(range.bars, 'bar')}, {time(range.from, 'UTC', false)} to{' '}
                  {time(range.to, 'UTC', false)}
                </p>
                <Figures
                  of={[
                    [
                      'Net profit',
                      percent(summary.netProfitPct, { plus: true }),
                      money(summary.netProfit, report.currency, { plus: true }),
                      tone(summary.netProfit),
                    ],
                    ['Max drawdown', percent(-Math.abs(summary.maxDrawdownPct))],
                    ['Trades', count(summary.trades)],
                  ]}
                />
              </>
            )
          }}
        </Show>
        <div class={p['actions']} style={{ marginTop: '16px' }}>
          <Button
            variant="primary"
            icon="report"
            disabled={run.data === null}
            onClick={() => attempt(keep())}
          >
            Keep this run and open its report
          </Button>
          <Button icon="code" onClick={() => navigate(`/research/sample:${encodeURIComponent(sample.name)}`)}>
            Its code
          </Button>
        </div>
      </section>
    </div>
  )
}
