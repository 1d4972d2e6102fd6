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
import { openDialog } from '../ui/dialogs.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { item, Menu, type MenuItems } from '../ui/menu.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Badge, Button, Empty, Field, toast } from '../ui/ui.tsx'
import { BridgeForm, type BridgeSource } from './bridge-form.tsx'

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
  const add = (
    <Button variant="primary" icon="plus" onClick={() => edit(null)}>
      Add a bridge
    </Button>
  )
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
                <BridgesTable bridges={bridges} sources={sources} onEdit={edit} onChanged={reload} />
                <section class={p['section']}>
                  <h2>Orders</h2>
                  <Orders orders={orders} bridges={bridges} />
                </section>
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
  if (stopped)
    return (
      <Button icon="play" onClick={() => attempt(turn(false))}>
        Let them go on
      </Button>
    )
  const stop = () =>
    askFirst({
      title: 'Stop all orders?',
      text: 'Nothing is sent any more, exits neither, and what waits is dropped. Positions at the broker stay: close them there, and then set here what it has.',
      action: 'Stop all orders',
      run: () => turn(true),
    })
  return (
    <Button variant="danger" icon="pause" onClick={stop}>
      Stop all orders
    </Button>
  )
}

interface BridgesTableProps extends Pick<ActionsProps, 'onEdit' | 'onChanged'> {
  readonly bridges: readonly Bridge[]
  readonly sources: readonly BridgeSource[]
}

function BridgesTable({ bridges, sources, onEdit, onChanged }: BridgesTableProps) {
  return (
    <DataTable
      label="Bridges"
      rows={bridges}
      keyOf={({ id }) => id}
      columns={({ own, actions }) => [
        own('name', 'Name', 'main', (one) => <BridgeName bridge={one} sources={sources} />),
        own('expected', 'By its signals', 'number', ({ expected }) => quantity(expected)),
        own('held', 'Receiver has', 'number', ({ dryRun, held }) =>
          dryRun ? `would have ${quantity(held)}` : quantity(held),
        ),
        own('status', 'State', '', (one) => <State bridge={one} />),
        actions('Actions', (one) => <Actions bridge={one} onEdit={onEdit} onChanged={onChanged} />),
      ]}
    />
  )
}

interface NameProps {
  readonly bridge: Bridge
  readonly sources: readonly BridgeSource[]
}

function BridgeName({ bridge, sources }: NameProps) {
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

function State({ bridge }: { readonly bridge: Bridge }) {
  const { status, disabledReason, dryRun, waitsForFlat, difference } = bridge
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

interface ActionsProps {
  readonly bridge: Bridge
  readonly onEdit: (bridge: Bridge) => void
  readonly onChanged: () => void
}

function Actions({ bridge, onEdit, onChanged }: ActionsProps) {
  const { id, name, status, dryRun } = bridge
  const path = { id }
  const change = async (body: { dryRun?: boolean; status?: Bridge['status'] }) => {
    await call('PATCH /api/platform/bridges/{id}', { path, body })
    onChanged()
  }
  const tryIt = async () => {
    const { body } = await call('POST /api/platform/bridges/{id}/test', { path })
    if (dryRun) openDialog(<WouldBeSent body={body} />)
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
  const remove = () =>
    askFirst({
      title: `Delete ${name}?`,
      text: 'What waits is not sent. Positions at the broker stay.',
      action: 'Delete',
      run: () => call('DELETE /api/platform/bridges/{id}', { path }).then(onChanged),
    })
  const setHeld = () => openDialog(<HeldForm bridge={bridge} />, onChanged)
  const turned: MenuItems = dryRun
    ? [item('End the dry run', 'play', goLive)]
    : [item('Back to a dry run', 'pause', () => attempt(change({ dryRun: true })))]
  const items: MenuItems = [
    item('Change', 'tune', () => onEdit(bridge)),
    ...(isActive ? [item('Try it', 'play', () => attempt(tryIt())), ...turned] : []),
    item('Set what the receiver has', 'tune', setHeld),
    isActive
      ? item('Disable', 'pause', () => attempt(change({ status: 'disabled' })))
      : item('Enable', 'play', () => attempt(change({ status: 'active' }))),
    '-',
    item('Delete', 'trash', remove, { danger: true }),
  ]
  return <Menu label={`More for ${name}`} items={items} />
}

function WouldBeSent({ body }: { readonly body: string }) {
  return (
    <Dialog title="This would be sent">
      <p>It is a dry run: nothing was sent. The secret takes its place only on the way.</p>
      <CodeBlock text={body} label="Message" />
    </Dialog>
  )
}

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

interface OrdersProps {
  readonly orders: Loaded<Paged<BridgeOrder>>
  readonly bridges: readonly Bridge[]
}

function Orders({ orders, bridges }: OrdersProps) {
  const nameOf = (bridgeId: string) => bridges.find(({ id }) => id === bridgeId)?.name ?? 'deleted'
  const again = (id: string) =>
    attempt(call('POST /api/platform/bridges/orders/{id}/resend', { path: { id } }), orders.reload)
  return (
    <Show of={orders}>
      {({ items, onMore }) => (
        <DataTable
          label="Orders"
          rows={items}
          keyOf={({ id }) => id}
          onMore={onMore}
          empty={
            <p class="muted">
              None yet. They come with the next order of a strategy, or the next firing of an alert.
            </p>
          }
          columns={({ own, actions }) => [
            { of: 'createdAt', head: 'When', cell: ({ createdAt }) => <Ago at={createdAt} /> },
            own('bridgeId', 'Bridge', '', (one) => nameOf(one.bridgeId)),
            {
              ...own(
                'orderId',
                'Order',
                'main',
                (one) => `${one.side} ${quantity(one.qty)} · ${one.orderId}`,
              ),
              title: ({ key }) => `Key ${key}`,
            },
            own('state', 'State', '', (one) => <OrderState order={one} />),
            own('attempts', 'Answer', 'note', answerText),
            actions('Actions', (one) => <Again order={one} onClick={() => again(one.id)} />),
          ]}
        />
      )}
    </Show>
  )
}

function Again({ order, onClick }: { readonly order: BridgeOrder; readonly onClick: () => void }) {
  if (order.state !== 'failed' && order.reason !== 'stopped') return null
  const label = `Send ${order.orderId} again`
  return (
    <Button size="small" variant="quiet" icon="replay" aria-label={label} onClick={onClick}>
      Send again
    </Button>
  )
}

const STATES = { pending: 'open', delivered: 'taken', failed: 'not taken', cancelled: 'not sent' } as const
const TONES = { pending: 'accent', delivered: 'up', failed: 'down', cancelled: undefined } as const

function OrderState({ order: { state, reason, barTime } }: { readonly order: BridgeOrder }) {
  const tone = reason === 'unsure' ? 'warn' : TONES[state]
  const bar = reason === 'late' ? `: bar of ${time(barTime, timezone.value || 'UTC', true)}` : ''
  const text = reason === null ? STATES[state] : `${WHY[reason]}${bar}`
  return <Badge tone={tone}>{text}</Badge>
}

function answerText({ attempts }: BridgeOrder): string {
  const last = attempts.at(-1)
  if (!last) return ''
  const said = last.status > 0 ? String(last.status) : (last.failure ?? 'no answer').replaceAll('_', ' ')
  const tries = attempts.length > 1 ? `${attempts.length} tries: ` : ''
  return `${tries}${said}${last.excerpt ? ` ${last.excerpt.slice(0, 120)}` : ''}`
}
