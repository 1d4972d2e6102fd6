// The log of deliveries: what was sent to which webhook, each attempt with its answer, and a button to send it again.

import { useEffect, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { ago, duration } from '../format.ts'
import { Icon } from '../ui/icon.tsx'
import { Badge, Button, Empty, toast } from '../ui/ui.tsx'
import s from './deliveries.module.css'
import { SENT_TONES } from './sent.ts'
import { attempt, CodeBlock, Show, usePages, More, useAnswer } from '../frame/page.tsx'
import type { Delivery } from '../../wire/webhook.ts'
import { navigate } from '../router.ts'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'

/** A delivery that waits for another attempt counts as failed. */
const toneOf = ({ state, attempts }: Delivery) =>
  state === 'pending' && attempts.length > 0 ? 'warn' : SENT_TONES[state]
const POLL_MS = 3000
/** Only an answer of 2xx means that the delivery was accepted. */
const isTaken = ({ status, failure }: Delivery['attempts'][number]): boolean =>
  failure === null && status >= 200 && status < 300

interface DeliveriesProps {
  /** null = for all webhooks. */
  readonly webhookId: string | null
  readonly nameOf?: (webhookId: string) => string
  readonly changed?: number
}

export function Deliveries({ webhookId, nameOf, changed = 0 }: DeliveriesProps) {
  const list = usePages(
    'deliveries',
    (asked) =>
      webhookId === null
        ? call('GET /api/platform/webhooks/deliveries', asked)
        : call('GET /api/platform/webhooks/{id}/deliveries', { path: { id: webhookId }, ...asked }),
    [webhookId, changed],
  )
  const [open, setOpen] = useState<string | null>(null)
  const [failedOnly, setFailedOnly] = useState(false)
  const turn = () => setFailedOnly(!failedOnly)
  useEffect(() => {
    const again = setInterval(() => {
      if (!document.hidden) list.reload()
    }, POLL_MS)
    return () => clearInterval(again)
  }, [])
  return (
    <Show of={list}>
      {({ items: deliveries, onMore }) => {
        if (deliveries.length === 0)
          return (
            <Empty title="Nothing was sent yet">
              A finished backtest and a fired alert are sent to the webhooks that listen to them.
            </Empty>
          )
        const isBad = ({ attempts }: Delivery) => !attempts.every(isTaken)
        const failed = deliveries.filter((one) => one.state === 'failed' || isBad(one)).length
        const shown = failedOnly ? deliveries.filter(isBad) : deliveries
        return (
          <>
            {failed > 0 && (
              <div class={s.bar}>
                {buttons([item(`${failed} with failures`, '', turn, { on: failedOnly })], 'small quiet')}
              </div>
            )}
            <ul class={s.list} aria-label="Deliveries">
              {shown.map((one) => (
                <li key={one.id}>
                  <button
                    type="button"
                    class={s.row}
                    aria-expanded={open === one.id}
                    onClick={() => setOpen(open === one.id ? null : one.id)}
                  >
                    <Icon name="chevron" size={14} />
                    <Badge tone={toneOf(one)}>{stateText(one)}</Badge>
                    <span class={s.event}>
                      <code>{one.event}</code>
                      {nameOf && <span class="muted"> to {nameOf(one.webhookId)}</span>}
                      {one.resendOf && <span class="muted"> (sent again)</span>}
                    </span>
                    <span class={s.when}>
                      {one.attempts.length > 1 && `${one.attempts.length} attempts · `}
                      {ago(one.createdAt)}
                    </span>
                  </button>
                  {open === one.id && <Detail delivery={one} onResent={list.reload} />}
                </li>
              ))}
            </ul>
            <More onMore={onMore} />
          </>
        )
      }}
    </Show>
  )
}

function stateText({ state, attempts }: Delivery): string {
  const last = attempts.at(-1)
  if (state === 'delivered' && last) return String(last.status)
  if (state === 'pending' && last) return last.status > 0 ? `${last.status}, will retry` : 'will retry'
  if (state === 'failed' && last && last.status > 0) return String(last.status)
  return state
}

function Detail({ delivery, onResent }: { readonly delivery: Delivery; readonly onResent: () => void }) {
  const resend = async () => {
    await call('POST /api/platform/webhooks/deliveries/{id}/resend', { path: { id: delivery.id } })
    toast('On its way again', { tone: 'up' })
    onResent()
  }
  return (
    <div class={s.detail}>
      <div>
        <div class={s.detailHead}>
          <h3>Attempts</h3>
          {buttons([item('Send again', 'replay', () => attempt(resend()))], 'small')}
        </div>
        {delivery.attempts.length === 0 && <p class="muted">Waiting for its first.</p>}
        <ol class={s.attempts}>
          {delivery.attempts.map((one) => (
            <li key={one.at}>
              <span class={isTaken(one) ? 'up' : 'down'}>{one.status > 0 ? one.status : 'No answer'}</span>{' '}
              <span class="muted">
                {ago(one.at)}, after {duration(one.durationMs)}
              </span>
              {one.failure && <div>{one.failure}</div>}
              {one.excerpt && <pre class={s.answer}>{one.excerpt}</pre>}
            </li>
          ))}
        </ol>
        {delivery.nextAt !== null && delivery.state === 'pending' && delivery.attempts.length > 0 && (
          <p class="muted">Next attempt {ago(delivery.nextAt)}.</p>
        )}
        <p class="muted">
          <code>{delivery.id}</code>
        </p>
      </div>
      <div>
        <h3>Data</h3>
        <CodeBlock label="data" text={JSON.stringify(delivery.data, null, 2)} />
      </div>
    </div>
  )
}

/** The drawer below the chart: those of the last runs and firings. */
export function DeliveriesDrawer() {
  const hooks = useAnswer('GET /api/platform/webhooks', {}, 'webhooks')
  return (
    <Show of={hooks}>
      {(list) =>
        list.length === 0 ? (
          <Empty
            title="Nobody is listening"
            action={<Button onClick={() => navigate('/alerts/webhooks')}>Register a webhook</Button>}
          >
            Webhooks get a signed message when a backtest is ready or an alert fires.
          </Empty>
        ) : (
          <Deliveries
            webhookId={null}
            nameOf={(id) => list.find((one) => one.id === id)?.name ?? 'a deleted webhook'}
          />
        )
      }
    </Show>
  )
}
