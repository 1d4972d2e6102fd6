// Share a report as an idea that is seen only by those who have its address.

import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { count, money, percent, ratio } from '../format.ts'
import { href } from '../router.ts'
import { copyText } from '../ui/copy-text.ts'
import { Button, Dialog, Field, toastError } from '../ui/ui.tsx'
import { keptRun } from '../run-script.ts'
import type { Run } from '../workspace.ts'

export function Share({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const { report } = run
  const [title, setTitle] = useState(`${run.name} on ${report.symbol} ${report.interval}`)
  const [body, setBody] = useState(summaryOf(run))
  const [link, setLink] = useState('')
  const [busy, setBusy] = useState(false)
  const publish = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      const { exchange, symbol, interval } = report
      const idea = { title, body, tags: [symbol.toLowerCase(), 'backtest'], visibility: 'unlisted' as const }
      const { id } = await call('POST /api/platform/ideas', {
        body: {
          ...idea,
          exchange,
          symbol,
          interval,
          backtestId: await keptRun(),
        },
      })
      setLink(new URL(href(`/ideas/${id}`), location.href).href)
    } catch (error) {
      toastError(error)
    } finally {
      setBusy(false)
    }
  }
  if (link !== '')
    return (
      <Dialog
        title="Shared"
        onClose={onClose}
        footer={
          <Button variant="primary" icon="copy" onClick={() => copyText(link, 'Link copied')}>
            Copy the link
          </Button>
        }
      >
        <p class="muted">Whoever has this link can read it. It is in no list and no search.</p>
        <a href={link}>
          <code>{link}</code>
        </a>
      </Dialog>
    )
  return (
    <Dialog
      title="Share as an unlisted idea"
      onClose={onClose}
      width={560}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            type="submit"
            form="share"
            disabled={busy || title.trim() === '' || body.trim() === ''}
          >
            {busy ? 'Sharing…' : 'Share'}
          </Button>
        </>
      }
    >
      <form id="share" onSubmit={(event) => void publish(event)} style={{ display: 'grid', gap: '14px' }}>
        <Field label="Title" value={title} onInput={setTitle} required autofocus />
        <Field label="Text" value={body} onInput={setBody} rows={9} required />
      </form>
    </Dialog>
  )
}

function summaryOf({ report }: Run): string {
  const { all, equity, currency } = report
  return [
    `${report.exchange}:${report.symbol}, ${report.interval}, ${count(report.range.bars)} bars.`,
    '',
    `- Net profit: ${money(all.netProfit, currency, { plus: true })} (${percent(all.netProfitPct, { plus: true })})`,
    `- Buy & hold: ${percent(equity.buyHoldPct, { plus: true })}`,
    `- Max drawdown: ${percent(-equity.maxDrawdownPct)}`,
    `- Trades: ${count(all.trades)}, ${percent(all.winRate)} profitable`,
    `- Profit factor: ${ratio(all.profitFactor, 3)}, Sharpe: ${ratio(equity.sharpe, 3)}`,
  ].join('\n')
}
