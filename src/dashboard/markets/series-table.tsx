// The symbols that have bars, with their series: how far they reach, how fresh they are, what is missing, what brings the next.

import { FACTS } from './facts.ts'
import { FeedState } from './followed.tsx'
import { useEffect } from 'preact/hooks'
import type { SymbolFacts } from '../../wire/bars.ts'
import type { Feed } from '../../wire/feed.ts'
import { intervalMs, parseInterval } from '../../market/interval.ts'
import { isSameMarket, seriesOf, type Market } from '../charts.ts'
import { call } from '../api-client.ts'
import { nameOf, ago, count, counted, intervalText, marketText, time } from '../format.ts'
import { askFirst, attempt, pageStyles as p, useLoad } from '../frame/page.tsx'
import { showOnChart } from '../frame/show-on-chart.ts'
import { onLive } from '../live.ts'
import { navigate } from '../router.ts'
import { actions, own, type Column } from '../ui/data-table.tsx'
import { LoadedTable } from '../ui/loaded-table.tsx'
import { openDialog } from '../ui/dialogs.tsx'
import { item, Menu } from '../ui/menu.tsx'
import { Button, Empty, Field, Select, toast } from '../ui/ui.tsx'
import { seriesFields, bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { forgetSymbols } from '../watchlists/quotes.ts'
import s from './markets.module.css'
import { SYMBOL_TYPES } from '../../lib/symbol-type.ts'
import { FormDialog, useForm } from '../ui/form.tsx'
import { downloadItem } from '../ui/buttons.tsx'

const SERIES_FIELDS = seriesFields()

interface Row extends Market {
  /** Missing for what is followed and has no bars yet. */
  readonly facts?: SymbolFacts
  readonly count: number
  readonly first: number | null
  readonly last: number | null
  readonly feed: Feed | undefined
  /** Whether some provider has its exchange. */
  readonly isProvided: boolean
}

/** Each series with what follows it, and behind them what is followed and has no bars yet. */
function rowsOf(
  symbols: readonly SymbolFacts[],
  feeds: readonly Feed[],
  provided: ReadonlySet<string>,
): readonly Row[] {
  const stored = symbols.flatMap((facts) =>
    facts.series.map((series): Row => {
      const named = { exchange: facts.exchange, symbol: facts.symbol, interval: series.interval }
      const feed = feeds.find((one) => isSameMarket(one, named))
      return { ...series, ...named, facts, feed, isProvided: provided.has(facts.exchange) }
    }),
  )
  const others = feeds.filter((feed) => !stored.some((row) => row.feed === feed))
  const none = { count: 0, first: null, last: null, isProvided: true }
  return [...stored, ...others.map((feed): Row => ({ ...seriesOf(feed), ...none, feed }))]
}

export function SeriesTable() {
  const loaded = useLoad(async (signal) => {
    const [{ symbols }, { feeds, providers }] = await Promise.all([
      call('GET /api/platform/symbols', { signal }),
      call('GET /api/platform/feeds', { signal }),
    ])
    return rowsOf(symbols, feeds, new Set(providers.flatMap(({ exchanges }) => exchanges)))
  }, [])
  const reload = () => {
    forgetSymbols()
    loaded.reload()
  }
  useEffect(() => onLive('bars', reload, reload), [])
  return (
    <>
      <LoadedTable
        label="Symbols and their series"
        of={loaded}
        wire={SERIES_FIELDS}
        keyOf={marketText}
        empty={
          <Empty
            title="No bars yet"
            action={<Button onClick={() => navigate('/markets/sources')}>Bring some</Button>}
          >
            Drop a file anywhere, or fetch some from a provider.
          </Empty>
        }
        columns={columnsOf(reload)}
      />
      <p class="muted">An interval that is missing here is built from a finer one.</p>
    </>
  )
}

const columnsOf = (onChanged: () => void): readonly Column<Row>[] => [
  {
    of: 'symbol',
    head: 'Symbol',
    look: 'main',
    sort: marketText,
    leastFirst: true,
    cell: (row) => (
      <>
        <button
          type="button"
          class={p['linkButton']}
          title="Show on the chart"
          onClick={() => showOnChart(row)}
        >
          {nameOf(row)}
        </button>
        <span class={p['cellNote']}>{row.facts?.description ?? 'followed, no bars yet'}</span>
      </>
    ),
  },
  { of: 'interval', head: 'Interval', sort: false, cell: ({ interval }) => intervalText(interval) },
  { of: 'count', head: 'Bars' },
  own('first', 'From', 'date', ({ first, facts }) => time(first, facts?.timezone ?? 'UTC', false)),
  own('last', 'To', 'date', ({ last, facts }) => time(last, facts?.timezone ?? 'UTC', false)),
  {
    of: 'holes',
    head: 'Missing',
    look: 'number',
    sort: missingIn,
    title: () => 'Bars between the first and the last, of markets that never close',
    cell: (row) => count(missingIn(row)),
  },
  { of: 'fresh', head: 'Kept fresh', tone: () => s.fresh, cell: ({ feed }) => <Freshness feed={feed} /> },
  actions('More', (row) => <SeriesMenu row={row} onChanged={onChanged} />),
]

/** How many bars there would be besides those there are; null where nobody knows when the market is open. */
function missingIn({ facts, interval, count: bars, first, last }: Row): number | null {
  const length = parseInterval(interval)
  // Of stocks, round the clock only means that nobody has said when they trade.
  const isAlways = facts?.session === '24x7' && facts.type !== 'stock'
  if (!isAlways || length === null || first === null || last === null) return null
  return Math.max(0, Math.round((last - first) / intervalMs(length)) + 1 - bars)
}

function Freshness({ feed }: Pick<Row, 'feed'>) {
  if (!feed) return <span class="muted">by hand</span>
  return (
    <span title={feed.said}>
      <FeedState feed={feed} />{' '}
      <span class={p['cellNote']}>
        {feed.lastError ?? (feed.lastSuccessAt === null ? 'not yet' : ago(feed.lastSuccessAt))}
        {feed.nextAt !== null && ` · next ${ago(feed.nextAt).replace('just now', 'in a moment')}`}
      </span>
    </span>
  )
}

function SeriesMenu({ row, onChanged }: { readonly row: Row; readonly onChanged: () => void }) {
  const { facts, feed, isProvided } = row
  const series = seriesOf(row)
  const stop = () => attempt(call('DELETE /api/platform/feeds', { query: series }), onChanged)
  const follow = () => attempt(call('POST /api/platform/feeds', { body: series }), onChanged)
  const file = (name: string, format: string) =>
    downloadItem(`Download as ${name}`, '/api/platform/bars/export', { ...series, format })
  return (
    <Menu
      label={`More for ${row.symbol} ${row.interval}`}
      size="small"
      items={[
        item('Show on the chart', 'candles', () => showOnChart(series)),
        feed?.followed
          ? item('Stop following', 'pause', stop)
          : isProvided && item('Follow: new bars come by themselves', 'play', follow),
        facts && file('CSV', 'csv'),
        facts && file('Parquet', 'parquet'),
        facts &&
          item('Facts of the symbol', 'tune', () => openDialog(<SymbolEditor facts={facts} />, onChanged)),
        facts && item('Delete the bars', 'trash', () => removeBars(row, onChanged), { danger: true }),
      ]}
    />
  )
}

const removeBars = (row: Row, onChanged: () => void): void =>
  askFirst({
    title: `Delete ${marketText(row)}?`,
    text: `${counted(row.count, 'bar')} ${row.count === 1 ? 'goes' : 'go'}. Stored backtests stay, but cannot be run again on them.`,
    action: 'Delete the bars',
    run: () => call('DELETE /api/platform/bars', { query: seriesOf(row) }).then(onChanged),
  })

const FACT_FIELDS = bodyFields('PUT /api/platform/symbols/{exchange}/{symbol}')

function SymbolEditor({ facts }: { readonly facts: SymbolFacts }) {
  const texts = Object.fromEntries(FACTS.map(([name]) => [name, String(facts[name])]))
  const form = useForm<Record<string, string> & { type: SymbolFacts['type'] }>({
    wire: FACT_FIELDS,
    start: { ...texts, type: facts.type },
    async send(values) {
      const changed = [...FACTS.map(([name]) => name), 'type' as const].filter(
        (name) => values[name] !== String(facts[name]),
      )
      const fields = changed.map((name) => [
        name,
        FACT_FIELDS[name].kind === 'number' ? Number(values[name]) : values[name],
      ])
      await call('PUT /api/platform/symbols/{exchange}/{symbol}', {
        path: { exchange: facts.exchange, symbol: facts.symbol },
        body: Object.fromEntries(fields) as Partial<SymbolFacts>,
      })
      toast('Saved. Runs from now on use it.', { tone: 'up' })
    },
  })
  return (
    <FormDialog of={form} title={`${facts.exchange}:${facts.symbol}`} action="Save" width={560}>
      <p class="muted">What backtests know about it. Sizes, fills and money depend on these.</p>
      <Select
        label="Type"
        options={SYMBOL_TYPES.map((one) => [one, one] as const)}
        {...form.choice('type')}
      />
      <div class={p['row']} style={{ gridTemplateColumns: 'repeat(auto-fit, minmax(200px, 1fr))' }}>
        {FACTS.map(([name, label, hint]) => (
          <Field
            key={name}
            label={label}
            {...form.field(name, { required: FACT_FIELDS[name].min !== 0 })}
            {...(hint !== '' && { hint })}
          />
        ))}
      </div>
    </FormDialog>
  )
}
