// The tab of bridges: which strategy's orders go to which broker, what it has beside what the strategy has, and every order
// with its answer.

import type { Bridge, BridgeOrder } from '../../wire/bridge.ts'
import { ORDER_TEMPLATES } from '../../wire/order-templates.ts'
import { call } from '../api-client.ts'
import {
  askFirst,
  attempt,
  CodeBlock,
  pageStyles as p,
  type Loaded,
  type Paged,
  Panel,
  Show,
  useLoad,
  usePages,
  useReloadWhile,
} from '../frame/page.tsx'
import { marketText, quantity, time } from '../format.ts'
import { href } from '../router.ts'
import { timezone } from '../settings.ts'
import { Ago } from '../ui/ago.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { LoadedTable } from '../ui/loaded-table.tsx'
import { openDialog } from '../ui/dialogs.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { item, Menu, type MenuItems } from '../ui/menu.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Badge, Empty, Field, toast } from '../ui/ui.tsx'
import { answerOf, SENT_TONES } from '../webhooks/sent.ts'
import { BridgeForm, type BridgeSource } from './bridge-form.tsx'
import { buttons, deletion } from '../ui/buttons.tsx'
import { Section } from '../frame/section.tsx'

const WHY: Readonly<Record<NonNullable<BridgeOrder['reason']>, string>> = {
  dry_run: 'dry run: not sent',
  stopped: 'stopped: not sent',
  size: 'cut by the largest position',
  loss: 'cut by the day’s loss',
  before_flat: 'waits until the strategy is flat',
  late: 'too late',
  nothing_to_do: 'nothing to close',
  refused: 'refused',
  unsure: 'no answer: may have been taken',
  test: 'test',
}
const LOOK_MS = 1000

function useBridges() {
  const list = useLoad(async (signal) => {
    const [{ bridges, stopped }, { forwardRuns }, { alerts }] = await Promise.all([
      call('GET /api/platform/bridges', { signal }),
      call('GET /api/platform/forward-runs', { signal }),
      call('GET /api/platform/alerts', { signal }),
    ])
    const sources: BridgeSource[] = [...forwardRuns.filter(({ state }) => state === 'running'), ...alerts]
    return { bridges, stopped, sources }
  }, [])
  const orders = usePages('orders', (asked) => call('GET /api/platform/bridges/orders', asked), [])
  useReloadWhile(orders.data?.items.some(({ state }) => state === 'pending') ?? false, orders, LOOK_MS)
  const reload = () => {
    list.reload()
    orders.reload()
  }
  return { list, orders, reload }
}

export function Bridges() {
  const { list, orders, reload } = useBridges()
  const edit = (bridge: Bridge | null) =>
    openDialog(<BridgeForm bridge={bridge} sources={list.data?.sources ?? []} />, reload)
  const add = buttons([item('Add a bridge', 'plus', () => edit(null), { primary: true })])
  return (
    <Panel
      about={
        <>
          Orders of a forward run, or firings of an alert, sent to a service that trades.{' '}
          <a href={href('/help/brokers')}>What it can and cannot promise</a>
        </>
      }
      actions={
        list.data &&
        (list.data.stopped || list.data.bridges.length > 0) && (
          <>
            <Switch stopped={list.data.stopped} onChanged={reload} />
            {add}
          </>
        )
      }
    >
      <Show of={list}>
        {({ bridges, stopped, sources }) => (
          <>
            {stopped && (
              <div class={p['note']} data-tone="warn" role="status">
                All orders are stopped: nothing is sent by any bridge until you let them go on.
              </div>
            )}
            {bridges.length === 0 ? (
              <Empty title="No bridges yet" action={add}>
                TradersPost, 3Commas, PickMyTrade, Alpaca, or any address that takes a message of yours. A
                bridge begins as a dry run: you see each order, and nothing is sent.
              </Empty>
            ) : (
              <>
                <DataTable
                  label="Bridges"
                  rows={bridges}
                  columns={({ own, actions }) => [
                    own('name', 'Name', 'main', (one) => nameCell(one, sources)),
                    own('expected', 'By its signals', 'number', ({ expected }) => quantity(expected)),
                    own('held', 'Receiver has', 'number', ({ dryRun, held }) =>
                      dryRun ? `would have ${quantity(held)}` : quantity(held),
                    ),
                    own('status', 'State', '', stateCell),
                    actions('Actions', (one) => (
                      <Menu label={`More for ${one.name}`} items={itemsOf(one, edit, reload)} />
                    )),
                  ]}
                />
                <Section class={p['section']} title="Orders">
                  <Orders orders={orders} bridges={bridges} />
                </Section>
              </>
            )}
          </>
        )}
      </Show>
    </Panel>
  )
}

function Switch({ stopped, onChanged }: { readonly stopped: boolean; readonly onChanged: () => void }) {
  const turn = async (to: boolean) => {
    await call('PUT /api/platform/bridges/switch', { body: { stopped: to } })
    onChanged()
  }
  const stop = () =>
    askFirst({
      title: 'Stop all orders?',
      text: 'Nothing is sent any more, exits neither, and what waits is dropped. Positions at the broker stay: close them there, and then set here what it has.',
      action: 'Stop all orders',
      run: () => turn(true),
    })
  return (
    <>
      {buttons([
        stopped
          ? item('Let them go on', 'play', () => attempt(turn(false)))
          : item('Stop all orders', 'pause', stop, { danger: true }),
      ])}
    </>
  )
}

function nameCell(bridge: Bridge, sources: readonly BridgeSource[]) {
  const source = sources.find(({ id }) => id === bridge.sourceId)
  return (
    <>
      <strong>{bridge.name}</strong>
      <div class={p['cellNote']}>
        {source?.name ?? 'what it was of has ended'} · {marketText(bridge)} to{' '}
        {ORDER_TEMPLATES[bridge.template].label} ({bridge.host})
      </div>
    </>
  )
}

function stateCell({ status, disabledReason, dryRun, waitsForFlat, difference }: Bridge) {
  if (status === 'disabled')
    return <Badge>{disabledReason === 'secret_lost' ? 'enter its secrets again' : 'disabled'}</Badge>
  return (
    <>
      {dryRun ? <Badge tone="accent">dry run</Badge> : <Badge tone="up">live</Badge>}{' '}
      {waitsForFlat ? (
        <Badge>waits until the strategy is flat</Badge>
      ) : (
        difference !== 0 && !dryRun && <Badge tone="down">differs by {quantity(difference)}</Badge>
      )}
    </>
  )
}

function itemsOf(bridge: Bridge, onEdit: (bridge: Bridge) => void, onChanged: () => void): MenuItems {
  const { id, name, status, dryRun } = bridge
  const path = { id }
  const change = async (body: { dryRun?: boolean; status?: Bridge['status'] }) => {
    await call('PATCH /api/platform/bridges/{id}', { path, body })
    onChanged()
  }
  const tryIt = async () => {
    const { body } = await call('POST /api/platform/bridges/{id}/test', { path })
    if (dryRun) showWouldBe(body)
    else toast('A test is on its way: its answer comes below.')
    onChanged()
  }
  const isActive = status === 'active'
  const goLive = () =>
    askFirst({
      title: `Send orders of ${name}?`,
      text: whatCanHappen(bridge),
      action: 'Send orders',
      run: () => change({ dryRun: false }),
    })
  const setHeld = () => openDialog(<HeldForm bridge={bridge} />, onChanged)
  return [
    item('Change', 'tune', () => onEdit(bridge)),
    isActive && item('Try it', 'play', () => attempt(tryIt())),
    isActive && dryRun && item('End the dry run', 'play', goLive),
    isActive && !dryRun && item('Back to a dry run', 'pause', () => attempt(change({ dryRun: true }))),
    item('Set what the receiver has', 'tune', setHeld),
    isActive
      ? item('Disable', 'pause', () => attempt(change({ status: 'disabled' })))
      : item('Enable', 'play', () => attempt(change({ status: 'active' }))),
    '-',
    deletion({
      title: `Delete ${name}?`,
      text: 'What waits is not sent. Positions at the broker stay.',
      action: 'Delete',
      run: () => call('DELETE /api/platform/bridges/{id}', { path }).then(onChanged),
    }),
  ]
}

const showWouldBe = (body: string): void =>
  openDialog(
    <Dialog title="This would be sent">
      <p>It is a dry run: nothing was sent. The secret takes its place only on the way.</p>
      <CodeBlock text={body} label="Message" />
    </Dialog>,
  )

function whatCanHappen({ honoursKeys, template, host }: Bridge): string {
  const who = template === 'generic' ? host : ORDER_TEMPLATES[template].label
  const begin = `From the next order on they go to ${host}, which may trade with real money. `
  return honoursKeys
    ? `${begin}An order that is not answered is sent again under the same key, which ${who} takes once.`
    : `${begin}${who} does not promise to take a key once. So an order that it does not answer is not sent again: it may have been taken, or not. You are told; look there, then send it again or set what it has.`
}

function HeldForm({ bridge }: { readonly bridge: Bridge }) {
  const form = useForm({
    start: { held: String(bridge.held) },
    async send({ held }) {
      const number = Number(held.trim().replace('−', '-'))
      if (held.trim() === '' || !Number.isFinite(number)) throw new Error('Enter a number, such as 2 or -1.')
      await call('PATCH /api/platform/bridges/{id}', { path: { id: bridge.id }, body: { held: number } })
    },
  })
  return (
    <FormDialog of={form} title="What the receiver has" action="Save">
      <Field
        label="Contracts"
        inputMode="decimal"
        {...form.field('held')}
        hint="As the broker shows it; below zero when short. The next order leads from there."
      />
    </FormDialog>
  )
}

function Orders({ orders, bridges }: { orders: Loaded<Paged<BridgeOrder>>; bridges: readonly Bridge[] }) {
  const nameOf = (bridgeId: string) => bridges.find(({ id }) => id === bridgeId)?.name ?? 'deleted'
  const again = (id: string) =>
    attempt(call('POST /api/platform/bridges/orders/{id}/resend', { path: { id } }), orders.reload)
  return (
    <LoadedTable
      label="Orders"
      of={orders}
      empty={
        <p class="muted">
          None yet. They come with the next order of a strategy, or the next firing of an alert.
        </p>
      }
      columns={({ own, actions }) => [
        { of: 'createdAt', head: 'When', cell: ({ createdAt }) => <Ago at={createdAt} /> },
        own('bridgeId', 'Bridge', '', (one) => nameOf(one.bridgeId)),
        own('orderId', 'Order', 'main', orderText, { title: ({ key }) => `Key ${key}` }),
        own('state', 'State', '', orderState),
        own('attempts', 'Answer', 'note', answerText),
        actions('Actions', (one) =>
          buttons(
            [
              (one.state === 'failed' || one.reason === 'stopped') &&
                item('Send again', 'replay', () => again(one.id), { label: `Send ${one.orderId} again` }),
            ],
            'small quiet',
          ),
        ),
      ]}
    />
  )
}

const orderText = ({ side, qty, orderId }: BridgeOrder) => `${side} ${quantity(qty)} · ${orderId}`

const STATES = { pending: 'open', delivered: 'taken', failed: 'not taken', cancelled: 'not sent' } as const

function orderState({ state, reason, barTime }: BridgeOrder) {
  const tone = reason === 'unsure' ? 'warn' : SENT_TONES[state]
  const bar = reason === 'late' ? `: bar of ${time(barTime, timezone.value || 'UTC', true)}` : ''
  const text = reason === null ? STATES[state] : `${WHY[reason]}${bar}`
  return <Badge tone={tone}>{text}</Badge>
}

function answerText({ attempts }: BridgeOrder): string {
  const last = attempts.at(-1)
  if (!last) return ''
  const tries = attempts.length > 1 ? `${attempts.length} tries: ` : ''
  return `${tries}${answerOf(last)}${last.excerpt ? ` ${last.excerpt.slice(0, 120)}` : ''}`
}
