// Markets: the symbols that have bars, watchlists as groups of them, and where bars come from.

import { useEffect, useState } from 'preact/hooks'
import { count } from '../format.ts'
import { Page, attempt, pageStyles as p, Show, useAnswer, useReloadWhile } from '../frame/page.tsx'
import { href, navigate } from '../router.ts'
import { openDialog } from '../ui/dialogs.tsx'
import { Empty, Field, Progress, toast } from '../ui/ui.tsx'
import { chosen, choose, importList, loadedLists, loadWatchlists, watchlists } from '../watchlists/lists.ts'
import { ImportWatchlist } from '../watchlists/watchlist-import.tsx'
import { ListOfSymbols, openNaming } from './list-of-symbols.tsx'
import s from './markets.module.css'
import { SeriesTable } from './series-table.tsx'
import { Fragment } from 'preact'
import { call } from '../api-client.ts'
import { Form, useForm } from '../ui/form.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { forgetSymbols } from '../watchlists/quotes.ts'
import { Followed } from './followed.tsx'
import { ImportBars } from './import-bars.tsx'
import { ProviderKeys } from './provider-keys.tsx'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'
import { Section } from '../frame/section.tsx'

const SOURCES = 'sources'

export function Markets({ group }: { readonly group?: string }) {
  const [made, setMade] = useState('')
  useEffect(() => void loadWatchlists(), [])
  const make = async (name: string) => {
    setMade((await importList(name, [])).list.id)
    go()
  }
  const go = () => navigate(`/markets/${chosen.peek()?.id ?? ''}`)
  return (
    <Page
      title="Markets"
      about="What there are bars of. Last prices and changes come from the bars that are stored here."
      actions={buttons([
        item('Bring bars', 'upload', () => navigate(`/markets/${SOURCES}`)),
        item('Import a list', '', () => openDialog(<ImportWatchlist />, go)),
        item('New list', 'plus', () => openNaming('New list', '', make), { primary: true }),
      ])}
    >
      <div class={s.layout}>
        <nav class={s.groups} aria-label="Groups of markets">
          {groupOf('/markets', 'All symbols', group === undefined)}
          {(watchlists.value ?? []).map(({ id, name, items }) =>
            groupOf(`/markets/${id}`, name, id === group, count(items.length)),
          )}
          {groupOf(`/markets/${SOURCES}`, 'Sources', group === SOURCES)}
        </nav>
        <div class={s.body}>
          {group === undefined ? (
            <SeriesTable />
          ) : group === SOURCES ? (
            <Sources />
          ) : (
            <List id={group} isNew={made === group} />
          )}
        </div>
      </div>
    </Page>
  )
}

const groupOf = (to: string, text: string, isOpen: boolean, note = '') => (
  <a key={to} href={href(to)} aria-current={isOpen ? 'page' : undefined}>
    {text}
    {note && <small>{note}</small>}
  </a>
)

function List({ id, isNew }: { readonly id: string; readonly isNew: boolean }) {
  useEffect(() => choose(id), [id])
  return (
    <Show of={loadedLists()}>
      {(lists) => {
        const list = lists.find((one) => one.id === id)
        return list ? (
          <section aria-label={list.name}>
            <ListOfSymbols list={list} isNew={isNew} />
          </section>
        ) : (
          <Empty title="No such list">It may have been deleted.</Empty>
        )
      }}
    </Show>
  )
}

const FEEDS_AGAIN_MS = 5000
const SERIES_BODY = bodyFields('POST /api/platform/bars/fetch')

function Sources() {
  return (
    <div class={s.sources}>
      <ImportBars onImported={forgetSymbols} />
      <Providers />
      <ProviderKeys />
    </div>
  )
}

/** Fetching a series from a public provider once, or following it. */
function Providers() {
  const feeds = useAnswer('GET /api/platform/feeds', {})
  const form = useForm({
    wire: SERIES_BODY,
    start: { exchange: 'BINANCE', symbol: '', interval: '1D' },
    async send() {
      const answer = await call('POST /api/platform/bars/fetch', { body: series })
      toast(`${count(answer.inserted)} new bars`, { tone: 'up' })
      forgetSymbols()
      feeds.reload()
    },
  })
  // A provider that does not answer is known to be away some seconds later.
  useReloadWhile((feeds.data?.feeds.length ?? 0) > 0, feeds, FEEDS_AGAIN_MS)
  const { exchange, symbol, interval } = form.values
  const series = { exchange: exchange.trim(), symbol: symbol.trim(), interval: interval.trim() }
  const providers = feeds.data?.providers
  const isUnknown =
    series.exchange !== '' &&
    providers?.some((one) => one.exchanges.includes(series.exchange.toUpperCase())) === false
  const isIncomplete = series.exchange === '' || series.symbol === '' || isUnknown
  const follow = () =>
    attempt(call('POST /api/platform/feeds', { body: series }), () => {
      form.set('symbol', '')
      feeds.reload()
    })
  return (
    <Section title="Providers">
      <p>Fetch a series once, or follow it: then new bars come by themselves, and alerts look at them.</p>
      <Form
        of={form}
        action={form.busy ? 'Fetching…' : 'Fetch'}
        disabled={isIncomplete}
        beside={
          <>
            {buttons([item('Follow', '', follow, { disabled: isIncomplete })], 'quiet')}
            {isUnknown && <span class="muted">No provider has this exchange.</span>}
          </>
        }
      >
        <div class={p['row']}>
          <Field label="Exchange" {...form.field('exchange')} />
          <Field label="Symbol" placeholder="BTCUSDT" {...form.field('symbol')} />
          <Field label="Interval" {...form.field('interval')} />
        </div>
        {form.busy && <Progress fraction={null} label="Fetching bars" />}
      </Form>
      {feeds.data && <Followed feeds={feeds.data.feeds} onChanged={feeds.reload} />}
      {providers && (
        <dl class={p['facts']}>
          {providers.map((one) => (
            <Fragment key={one.name}>
              <dt>{one.name}</dt>
              <dd class="muted">{one.exchanges.join(', ')}</dd>
            </Fragment>
          ))}
        </dl>
      )}
    </Section>
  )
}
