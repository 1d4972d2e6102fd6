// The dialog that shares a report as an unlisted idea, which only people with its address can read.

import { useRef } from 'preact/hooks'
import { call } from '../api-client.ts'
import { count, counted, intervalText, money, percent, ratio, gain } from '../format.ts'
import { href } from '../router.ts'
import { cellOf } from '../chart/chart-state.ts'
import { scriptId } from '../charts.ts'
import { Check } from '../frame/page.tsx'
import { copyText } from '../ui/copy-text.ts'
import { openDialog } from '../ui/dialogs.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Button, Field } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { keptRun } from '../run-script.ts'
import { curveFallOf } from './equity-chart.tsx'
import type { ShownRun } from '../workspace.ts'
import s from './report.module.css'

const FIELDS = bodyFields('POST /api/platform/ideas')

export function Share({ run }: { readonly run: ShownRun }) {
  const { report } = run
  /** The idea that an earlier try made before its snapshot failed. */
  const made = useRef('')
  const form = useForm({
    wire: FIELDS,
    start: {
      title: `${run.name} on ${report.symbol} ${intervalText(report.interval)}`,
      body: summaryOf(run),
      withResult: report.script.kind === 'strategy',
    },
    async send({ withResult, ...texts }) {
      const { exchange, symbol, interval } = report
      const picture = withResult ? await pictureNow() : null
      const body = {
        ...texts,
        exchange,
        symbol,
        interval,
        tags: [symbol.toLowerCase(), 'backtest'],
        visibility: 'unlisted' as const,
        backtestId: await keptRun(),
      }
      const { id } =
        made.current === ''
          ? await call('POST /api/platform/ideas', { body })
          : await call('PATCH /api/platform/ideas/{id}', { path: { id: made.current }, body })
      made.current = id
      if (withResult) await call('PUT /api/platform/ideas/{id}/snapshot', { path: { id }, body: { picture } })
      openDialog(<Shared link={new URL(href(`/ideas/${id}`), location.href).href} />)
    },
  })
  return (
    <FormDialog
      of={form}
      title="Share as an unlisted idea"
      action={form.busy ? 'Sharing…' : 'Share'}
      width={560}
    >
      <Field label="Title" autofocus {...form.field('title')} />
      <Field label="Text" rows={9} {...form.field('body', { required: true })} />
      <Check checked={form.values.withResult} onChange={(on) => form.set('withResult', on)}>
        Show chart, figures, trades and equity to those who have the link. Never the script, its inputs or its
        logs.
      </Check>
    </FormDialog>
  )
}

const Shared = ({ link }: { readonly link: string }) => (
  <Dialog
    title="Shared"
    footer={
      <Button data-autofocus variant="primary" icon="copy" onClick={() => copyText(link, 'Link copied')}>
        Copy the link
      </Button>
    }
  >
    <p class="muted">
      {/^(localhost|127\..*|\[::1\])$/.test(new URL(link).hostname)
        ? 'This link works on this machine only: for others, open Chartroom at an address that they reach, and share there.'
        : 'Anybody with this link can read it.'}{' '}
      It appears in no list and no search.
    </p>
    <a class={s.link} href={link}>
      <code>{link}</code>
    </a>
  </Dialog>
)

/** A link without a picture is still a link. */
async function pictureNow(): Promise<string | null> {
  // The result is drawn on the chart that the script runs on.
  const { view: of, shown } = cellOf(scriptId.peek())
  const [view, chart] = [of.peek(), shown.peek()]
  if (!view || !chart) return null
  const { linkPicture } = await import('../chart/picture.ts')
  const picture = await view.picture()
  return linkPicture(picture, chart).catch(() => null)
}

function summaryOf(run: ShownRun): string {
  const { report, trials } = run
  const { all, equity, currency } = report
  return [
    `${report.exchange}:${report.symbol}, ${intervalText(report.interval)}, ${counted(report.range.bars, 'bar')}.`,
    '',
    `- Net profit: ${money(all.netProfit, currency, { plus: true })} (${gain(all.netProfitPct)})`,
    `- Buy & hold from the first trade: ${gain(equity.buyHoldPct)}`,
    `- Max drawdown (TradingView): ${percent(-equity.maxDrawdownPct)}, of the curve: ${percent(-curveFallOf(run).curveFallPct)}`,
    `- Trades: ${count(all.trades)}, ${percent(all.winRate)} profitable`,
    `- Profit factor: ${ratio(all.profitFactor, 3)}, Sharpe: ${ratio(equity.sharpe, 3)}`,
    // Who is shown the best of many is told so.
    ...(trials ? ['', trials.sentence] : []),
  ].join('\n')
}
