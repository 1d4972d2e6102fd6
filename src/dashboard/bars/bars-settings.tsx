// Settings, Bars: the cached series of each symbol, importing files, fetching from providers, and a symbol's facts.

import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { Series } from '../../wire/bars.ts'
import type { Feed } from '../../wire/feed.ts'
import { apiUrl, call } from '../api-client.ts'
import { count, time, intervalText, marketText } from '../format.ts'
import { SYMBOL_TYPES } from '../../lib/symbol-type.ts'
import { Menu } from '../ui/menu.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Form, FormDialog, useForm } from '../ui/form.tsx'
import { Badge, Button, Empty, Field, Progress, Select, toast } from '../ui/ui.tsx'
import { bodyFields, rowFields, seriesFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { ImportBars } from './import-bars.tsx'
import { ProviderKeys } from './provider-keys.tsx'
import { attempt, Confirm, pageStyles as p, Show, useLoad } from '../frame/page.tsx'
import { forgetSymbols, type SymbolFacts } from '../watchlists/quotes.ts'
import type { Market } from '../workspace.ts'
import { showOnChart } from '../frame/show-on-chart.ts'

const FACT_FIELDS = bodyFields('PUT /api/platform/symbols/{exchange}/{symbol}')
const SERIES_BODY = bodyFields('POST /api/platform/bars/fetch')
const SERIES_FIELDS = seriesFields()
const FEED_FIELDS = rowFields('GET /api/platform/feeds', 'feeds')

type CachedSeries = Market & Pick<Series, 'count'>

export function BarsSettings() {
  const symbols = useLoad(async (signal) => (await call('GET /api/platform/symbols', { signal })).symbols, [])
  const reload = () => {
    forgetSymbols()
    symbols.reload()
  }
  const [editing, setEditing] = useState<SymbolFacts | null>(null)
  const [deleting, setDeleting] = useState<CachedSeries | null>(null)
  return (
    <>
      <ImportBars onImported={reload} />
      <section>
        <h2>Cached series</h2>
        <p>An interval that is missing here is built from a finer one.</p>
        <Show of={symbols}>
          {(list) => (
            <DataTable
              label="Cached series"
              rows={list.flatMap((facts) => facts.series.map((series) => ({ ...series, facts })))}
              wire={SERIES_FIELDS}
              keyOf={({ facts, interval }) => `${facts.exchange}:${facts.symbol}:${interval}`}
              empty={
                <Empty title="No bars yet">Drop a file above, or fetch some from a provider below.</Empty>
              }
              columns={[
                {
                  of: 'symbol',
                  head: 'Symbol',
                  look: 'main',
                  sort: ({ facts }) => `${facts.exchange}:${facts.symbol}`,
                  leastFirst: true,
                  cell: ({ facts }) => (
                    <>
                      <span>
                        {facts.exchange}:{facts.symbol}
                      </span>
                      <span class={p['cellNote']}>{facts.description}</span>
                    </>
                  ),
                },
                {
                  of: 'interval',
                  head: 'Interval',
                  sort: false,
                  cell: ({ interval }) => intervalText(interval),
                },
                { of: 'count', head: 'Bars' },
                {
                  of: 'first',
                  head: 'From',
                  look: 'date',
                  cell: ({ first, facts }) => time(first, facts.timezone, false),
                },
                {
                  of: 'last',
                  head: 'To',
                  look: 'date',
                  cell: ({ last, facts }) => time(last, facts.timezone, false),
                },
                {
                  of: 'more',
                  head: 'More',
                  bare: true,
                  look: 'end',
                  cell: ({ facts, interval, count: bars }) => {
                    const { exchange, symbol } = facts
                    return (
                      <Menu
                        label={`More for ${symbol} ${interval}`}
                        size="small"
                        items={[
                          {
                            text: 'Show on the chart',
                            icon: 'candles',
                            run: () => showOnChart({ exchange, symbol, interval }),
                          },
                          ...(['csv', 'parquet'] as const).map((format) => ({
                            text: `Download as ${format === 'csv' ? 'CSV' : 'Parquet'}`,
                            icon: 'download' as const,
                            run: () =>
                              location.assign(
                                apiUrl('/api/platform/bars/export', { exchange, symbol, interval, format }),
                              ),
                          })),
                          { text: 'Facts of the symbol', icon: 'tune', run: () => setEditing(facts) },
                          {
                            text: 'Delete the bars',
                            icon: 'trash',
                            run: () => setDeleting({ exchange, symbol, interval, count: bars }),
                          },
                        ]}
                      />
                    )
                  },
                },
              ]}
            />
          )}
        </Show>
      </section>
      <Providers onFetched={reload} />
      <ProviderKeys />
      {deleting && (
        <Confirm
          title={`Delete ${marketText(deleting)}?`}
          action="Delete the bars"
          onConfirm={async () => {
            const { exchange, symbol, interval } = deleting
            await call('DELETE /api/platform/bars', { query: { exchange, symbol, interval } })
            reload()
          }}
          onClose={() => setDeleting(null)}
        >
          {count(deleting.count)} bars go. Stored backtests stay, but cannot be run again on them.
        </Confirm>
      )}
      {editing && <SymbolEditor facts={editing} onClose={() => setEditing(null)} onSaved={reload} />}
    </>
  )
}

const FACTS = [
  ['description', 'Description', ''],
  ['currency', 'Currency', 'The currency of its prices.'],
  ['baseCurrency', 'Base currency', 'Of a currency pair; otherwise empty.'],
  ['mintick', 'Tick size', 'Prices move in steps of this.'],
  ['pointValue', 'Point value', 'What one point is worth per contract.'],
  ['minQuantity', 'Smallest quantity', 'Quantities are multiples of this.'],
  ['timezone', 'Time zone', 'Like America/New_York.'],
  ['session', 'Session', 'Like 0930-1600 or 24x7.'],
] as const

interface SymbolEditorProps {
  readonly facts: SymbolFacts
  readonly onClose: () => void
  readonly onSaved: () => void
}

function SymbolEditor({ facts, onClose, onSaved }: SymbolEditorProps) {
  const start = {
    ...Object.fromEntries(FACTS.map(([name]) => [name, String(facts[name])])),
    type: facts.type,
  }
  const form = useForm<Record<string, string> & { type: SymbolFacts['type'] }>({
    wire: FACT_FIELDS,
    start,
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
      onSaved()
      toast('Saved. Runs from now on use it.', { tone: 'up' })
      onClose()
    },
  })
  return (
    <FormDialog
      of={form}
      title={`${facts.exchange}:${facts.symbol}`}
      action="Save"
      onClose={onClose}
      width={560}
    >
      <p class="muted">
        What the broker and syminfo.* know about it. Sizes, fills and money depend on these.
      </p>
      <Select
        label="Type"
        value={form.values.type}
        options={SYMBOL_TYPES.map((one) => [one, one] as const)}
        onChange={(type) => form.set('type', type)}
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

/** Fetching a series from a public provider once, or following it. */
function Providers({ onFetched }: { readonly onFetched: () => void }) {
  const feeds = useLoad((signal) => call('GET /api/platform/feeds', { signal }), [])
  const form = useForm({
    wire: SERIES_BODY,
    start: { exchange: 'BINANCE', symbol: '', interval: '1D' },
    async send() {
      const answer = await call('POST /api/platform/bars/fetch', { body: series })
      toast(`${count(answer.inserted)} new bars`, { tone: 'up' })
      onFetched()
      feeds.reload()
    },
  })
  const { exchange, symbol, interval } = form.values
  const series = { exchange: exchange.trim(), symbol: symbol.trim(), interval: interval.trim() }
  const follow = () =>
    attempt(
      call('POST /api/platform/feeds', { body: series }).then(() => {
        toast(`${series.symbol} is kept up to date`, { tone: 'up' })
        feeds.reload()
      }),
    )
  const stop = ({ exchange, symbol, interval }: Feed) =>
    attempt(call('DELETE /api/platform/feeds', { query: { exchange, symbol, interval } }).then(feeds.reload))
  return (
    <section>
      <h2>Providers</h2>
      <p>Fetch a series once, or follow it: then new bars come by themselves, and alerts look at them.</p>
      <Form
        of={form}
        action={form.busy ? 'Fetching…' : 'Fetch'}
        disabled={series.symbol === ''}
        beside={
          <Button variant="quiet" disabled={series.symbol === ''} onClick={follow}>
            Follow
          </Button>
        }
      >
        <div class={p['row']}>
          <Field label="Exchange" {...form.field('exchange')} />
          <Field label="Symbol" placeholder="BTCUSDT" {...form.field('symbol')} />
          <Field label="Interval" {...form.field('interval')} />
        </div>
        {form.busy && <Progress fraction={null} label="Fetching bars" />}
      </Form>
      {feeds.data && (
        <dl class={p['facts']}>
          {feeds.data.providers.map((one) => (
            <Fragment key={one.name}>
              <dt>{one.name}</dt>
              <dd class="muted">{one.exchanges.join(', ')}</dd>
            </Fragment>
          ))}
        </dl>
      )}
      {feeds.data && feeds.data.feeds.length > 0 && (
        <DataTable
          label="Followed series"
          rows={feeds.data.feeds}
          wire={FEED_FIELDS}
          keyOf={(one) => `${one.exchange}:${one.symbol}:${one.interval}`}
          columns={[
            {
              of: 'symbol',
              head: 'Series',
              look: 'main',
              cell: (one) => (
                <>
                  <span>{marketText(one)}</span>
                  <span class={`${p['cellNote']} ${one.lastError ? 'down' : ''}`}>{one.said}</span>
                </>
              ),
            },
            {
              of: 'state',
              head: 'State',
              cell: (one) => <Badge tone={one.lastError ? 'down' : 'up'}>{one.state}</Badge>,
            },
            { of: 'lastSuccessAt', head: 'Last bars', empty: 'not yet' },
            {
              of: 'stop',
              head: 'Stop',
              bare: true,
              look: 'end',
              cell: (one) => (
                <Button size="small" variant="quiet" onClick={() => stop(one)}>
                  Stop
                </Button>
              ),
            },
          ]}
        />
      )}
    </section>
  )
}
