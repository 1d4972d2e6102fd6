// What a user owns, kind by kind: how each is exported, and how it is made anew elsewhere.
//
// What people make by hand is made by the same requests as by hand, so that an imported file meets every check and limit
// there is. What the server has computed cannot be asked for: its record is stored as it was, after it has been held against
// the schema that answers have to fit, with the texts beside it under the keys that its kind has.

import type { TArray, TSchema } from '@sinclair/typebox'
import { dayToRepeat } from '../language/behaviour.ts'
import { forwardRuns } from '../work/forward/records.ts'
import { portfolios } from '../work/portfolios/records.ts'
import { runs } from '../work/runs/records.ts'
import { scans } from '../work/scans/records.ts'
import { collection, type Collection } from '../store/collection.ts'
import type { Kv } from '../store/kv.ts'
import { sweeps } from '../work/sweeps/records.ts'
import { OPERATIONS } from '../wire/operations.ts'

export type Item = Readonly<Record<string, unknown>>
type Row = Item & { readonly id: string }

/** New ids by old ones. */
export type NewIds = ReadonlyMap<string, string>

/** A request that makes an item, or that changes what the one before made, whose id `{id}` stands for. */
export interface Ask {
  readonly method: 'POST' | 'PATCH'
  readonly path: string
  readonly body: unknown
}

export interface MadeByHand {
  readonly kind: string
  /** Of the store; its index `owner` lists a user's. */
  readonly collection: string
  /** Fields that are exported. No other is, so that no secret ever can be. */
  readonly fields: readonly string[]
  asks(item: Item, ids: NewIds): readonly Ask[]
}

export interface Computed {
  readonly kind: string
  readonly records: (kv: Kv) => Collection<Row>
  readonly prefix: string
  /** What the keys of its texts begin with, before the id. */
  readonly parts: readonly string[]
  readonly schema: TSchema
  /** What has to fit the schema. */
  readonly wire: (record: Item) => Item
  /** The record as it is stored elsewhere, where it is not running. */
  readonly settled: (record: Item, ids: NewIds, now: number) => Item
}

type BodyOf = keyof {
  [K in keyof typeof OPERATIONS as (typeof OPERATIONS)[K] extends { readonly body: unknown } ? K : never]: 1
}
const bodyFields = (name: BodyOf): readonly string[] =>
  Object.keys((OPERATIONS[name].body as TSchema & { readonly properties: object }).properties)

const pick = (item: Item, fields: readonly string[]): Item =>
  Object.fromEntries(fields.flatMap((field) => (item[field] === undefined ? [] : [[field, item[field]]])))

const withoutNulls = (item: Item): Item =>
  Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
const mapped = (value: unknown, ids: NewIds): string[] => texts(value).flatMap((id) => ids.get(id) ?? [])
const mappedOne = (value: unknown, ids: NewIds): string | null =>
  typeof value === 'string' ? (ids.get(value) ?? null) : null

/** Wherever a script is named: charts of a layout are within each other. */
function scriptsMapped(value: unknown, ids: NewIds): unknown {
  if (Array.isArray(value)) return value.map((one) => scriptsMapped(one, ids))
  if (!isItem(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      name === 'scriptId' ? mappedOne(one, ids) : scriptsMapped(one, ids),
    ]),
  )
}

const post = (path: string, body: unknown): Ask => ({ method: 'POST', path, body })
const patch = (path: string, body: unknown): Ask => ({ method: 'PATCH', path, body })

const SCRIPTS = '/api/platform/scripts'
const ALERTS = '/api/platform/alerts'
const WEBHOOKS = '/api/platform/webhooks'

/** Made first, since others name them. */
const NAMED: readonly MadeByHand[] = [
  {
    kind: 'script',
    collection: 'scripts',
    fields: [...bodyFields('POST /api/platform/scripts'), 'revisions'],
    asks({ name, source, inputs, overrides, asOf, revisions }) {
      const [first = source, ...later] = Array.isArray(revisions) ? texts(revisions) : []
      const made = post(
        SCRIPTS,
        withoutNulls({
          name,
          source: first,
          inputs: inputs ?? null,
          overrides: overrides ?? null,
          asOf: asOf ?? null,
        }),
      )
      const changed = (later.at(-1) ?? first) === source ? later : [...later, source]
      return [made, ...changed.map((text) => patch(`${SCRIPTS}/{id}`, { source: text }))]
    },
  },
  {
    kind: 'webhook',
    collection: 'webhooks',
    fields: bodyFields('POST /api/platform/webhooks'),
    // Its receiver does not know the secret that it has here.
    asks: (item) => [post(WEBHOOKS, item), patch(`${WEBHOOKS}/{id}`, { status: 'disabled' })],
  },
  {
    kind: 'watchlist',
    collection: 'watchlists',
    fields: bodyFields('POST /api/platform/watchlists/import'),
    asks: (item) => [post('/api/platform/watchlists/import', item)],
  },
]

const COMPUTED: readonly Computed[] = [
  {
    kind: 'backtest',
    records: (kv) => runs(kv) as unknown as Collection<Row>,
    prefix: 'bt',
    parts: ['backtest-script', 'backtest-beginning', 'backtest-report', 'backtest-tracks'],
    schema: itemsOf(OPERATIONS['GET /api/platform/backtests'].answer.backtests),
    wire: (record) => ({
      currency: null,
      pinned: false,
      ...record,
      ownBars: false,
      error: isItem(record['error']) ? { diagnostics: [], ...record['error'] } : (record['error'] ?? null),
    }),
    settled: ({ node: _node, begun: _begun, ...record }) => record,
  },
  {
    kind: 'sweep',
    records: (kv) => sweeps(kv) as unknown as Collection<Row>,
    prefix: 'sw',
    parts: ['sweep-script', 'sweep-batch', 'sweep-verdict', 'sweep-stitched'],
    schema: itemsOf(OPERATIONS['GET /api/platform/sweeps'].answer.sweeps),
    wire: (record) => ({ halving: null, filtered: 0, ...record, counted: null, trying: 0 }),
    settled: (record) => record,
  },
  {
    kind: 'portfolio',
    records: (kv) => portfolios(kv) as unknown as Collection<Row>,
    prefix: 'pf',
    parts: [
      'portfolio-scripts',
      'portfolio-result',
      'portfolio-report',
      'portfolio-tracks',
      'portfolio-trades',
    ],
    schema: itemsOf(OPERATIONS['GET /api/platform/portfolios'].answer.portfolios),
    wire: (record) => record,
    settled: (record) => record,
  },
  {
    kind: 'scan',
    records: (kv) => scans(kv) as unknown as Collection<Row>,
    prefix: 'scan',
    parts: ['scan-script', 'scan-markets', 'scan-batch'],
    schema: itemsOf(OPERATIONS['GET /api/platform/scans'].answer.scans),
    wire: (record) => record,
    settled: (record, ids) => ({
      ...record,
      watch: null,
      watchlistId: mappedOne(record['watchlistId'], ids),
    }),
  },
  {
    kind: 'forward-run',
    records: (kv) => forwardRuns(kv) as unknown as Collection<Row>,
    prefix: 'fwd',
    parts: ['forward-script', 'forward-tape', 'forward-event'],
    schema: itemsOf(OPERATIONS['GET /api/platform/forward-runs'].answer.forwardRuns),
    // Those of earlier versions do not say.
    wire: (record) => ({ provisional: false, ...record }),
    settled: (record, _ids, now) =>
      record['state'] === 'running' ? { ...record, state: 'stopped', stoppedAt: now } : record,
  },
]

/** They name others. */
const NAMING: readonly MadeByHand[] = [
  {
    kind: 'idea',
    collection: 'ideas',
    fields: bodyFields('POST /api/platform/ideas'),
    asks: (item, ids) => [
      post('/api/platform/ideas', {
        ...item,
        visibility: 'private',
        backtestId: mappedOne(item['backtestId'], ids),
      }),
    ],
  },
  {
    kind: 'layout',
    collection: 'layouts',
    fields: bodyFields('POST /api/platform/layouts'),
    asks: (item, ids) => [post('/api/platform/layouts', scriptsMapped(item, ids))],
  },
  {
    kind: 'inbox',
    collection: 'inboxes',
    fields: bodyFields('POST /api/platform/inboxes'),
    asks: (item, ids) => [
      post('/api/platform/inboxes', { ...item, channelIds: mapped(item['channelIds'], ids) }),
    ],
  },
  {
    kind: 'alert',
    collection: 'alerts',
    fields: [...bodyFields('POST /api/platform/alerts'), 'state'],
    asks({ state, ...item }, ids) {
      const named = ['webhookIds', 'channelIds'] as const
      const told = Object.fromEntries(named.map((name) => [name, mapped(item[name], ids)]))
      // An alert that would tell others than it told is not let loose by itself.
      const isLost = named.some((name) => texts(item[name]).length > 0 && told[name]?.length === 0)
      const { escalation } = item
      const channelId = isItem(escalation) ? mappedOne(escalation['channelId'], ids) : null
      const body = withoutNulls({
        ...item,
        ...told,
        scriptId: mappedOne(item['scriptId'], ids),
        // One of before runs had a day goes on as it was.
        asOf: item['asOf'] ?? (item['scriptId'] ? dayToRepeat(undefined) : null),
        escalation: isItem(escalation) && channelId ? { ...escalation, channelId } : null,
      })
      const pause = patch(`${ALERTS}/{id}`, { state: 'paused' })
      return [post(ALERTS, body), ...(state === 'active' && !isLost ? [] : [pause])]
    },
  },
]

/** In the order of a file, in which whatever is named by others comes before them. Channels stand behind webhooks. */
export const KINDS: readonly (MadeByHand | Computed)[] = [...NAMED, ...COMPUTED, ...NAMING]

export function isItem(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function itemsOf(list: TSchema): TSchema {
  return (list as TArray).items
}

/** A record, and the parts of a portfolio, name whose series they ran on: the user's own or everybody's. */
export function withSeriesOwner(record: Item, owner: (was: unknown) => string): Item {
  const { seriesOwner, parts } = record
  return {
    ...record,
    ...(seriesOwner !== undefined && { seriesOwner: owner(seriesOwner) }),
    ...(Array.isArray(parts) && {
      parts: parts.map((part: unknown) => (isItem(part) ? withSeriesOwner(part, owner) : part)),
    }),
  }
}

/** The records of a user, oldest first. */
export function recordsOf(kv: Kv, of: MadeByHand | Computed, userId: string): AsyncGenerator<Row> {
  return 'records' in of
    ? of.records(kv).each('user', [userId])
    : collection<Row>(kv, of.collection).each('owner', [userId])
}

export const exported = (record: Item, { fields }: Pick<MadeByHand, 'fields'>): Item => pick(record, fields)
