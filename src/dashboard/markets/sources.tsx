// Where bars come from: files, providers that are asked once or followed, and the keys that some of them want.

import { Fragment } from 'preact'
import { call } from '../api-client.ts'
import { count } from '../format.ts'
import { attempt, pageStyles as p, useLoad } from '../frame/page.tsx'
import { Form, useForm } from '../ui/form.tsx'
import { Button, Field, Progress, toast } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { forgetSymbols } from '../watchlists/quotes.ts'
import { ImportBars } from './import-bars.tsx'
import s from './markets.module.css'
import { ProviderKeys } from './provider-keys.tsx'

const SERIES_BODY = bodyFields('POST /api/platform/bars/fetch')

export function Sources() {
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
  const feeds = useLoad((signal) => call('GET /api/platform/feeds', { signal }), [])
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
  const { exchange, symbol, interval } = form.values
  const series = { exchange: exchange.trim(), symbol: symbol.trim(), interval: interval.trim() }
  const providers = feeds.data?.providers
  const isUnknown =
    series.exchange !== '' &&
    providers?.some((one) => one.exchanges.includes(series.exchange.toUpperCase())) === false
  const isIncomplete = series.exchange === '' || series.symbol === '' || isUnknown
  const follow = () =>
    attempt(
      call('POST /api/platform/feeds', { body: series }).then(() => {
        toast(`${series.symbol} is kept up to date`, { tone: 'up' })
        feeds.reload()
      }),
    )
  return (
    <section>
      <h2>Providers</h2>
      <p>Fetch a series once, or follow it: then new bars come by themselves, and alerts look at them.</p>
      <Form
        of={form}
        action={form.busy ? 'Fetching…' : 'Fetch'}
        disabled={isIncomplete}
        beside={
          <>
            <Button variant="quiet" disabled={isIncomplete} onClick={follow}>
              Follow
            </Button>
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
    </section>
  )
}
