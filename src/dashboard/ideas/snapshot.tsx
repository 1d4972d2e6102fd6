// The parts of a backtest that an author published: chart, replay, figures and trades, for readers who may have no account
// here.
//
// The page requests nothing but the snapshot itself, so it is the same for everybody who opens it.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useSignalEffect } from '@preact/signals'
import type { Proof, Snapshot } from '../../wire/idea.ts'
import type { Track } from '../../wire/track.ts'
import { asOfText } from '../as-of.ts'
import { barAt, showsClock, toBars } from '../chart/bars.ts'
import { zone } from '../chart/chart-state.ts'
import { BarValues } from '../chart/legend-values.tsx'
import { EMPTY_SCENE } from '../chart/scene.ts'
import { ChartView } from '../chart/view.ts'
import { count, counted, marketText, money, price, quantity, time, tone, gain } from '../format.ts'
import { Show, pageStyles as p, useAnswer } from '../frame/page.tsx'
import { Overview } from '../report/overview.tsx'
import { wantedText } from '../sweeps/figure-words.ts'
import { VerdictFigures } from '../sweeps/verdict-figures.tsx'
import { palette, theme } from '../settings.ts'
import { DataTable } from '../ui/data-table.tsx'
import { rangeText } from '../ui/period.tsx'
import { lookAt, type ShownRun } from '../workspace.ts'
import s from './ideas.module.css'
import { Section } from '../frame/section.tsx'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'

/** How many rows are shown at first. */
const TRADES_SHOWN = 25
/** The time between two bars of a replay. */
const STEP_MS = 120

/** A time of the chart, as all of the page has them. */
const whenOf =
  ({ interval }: Snapshot) =>
  (ms: number | null | undefined) =>
    time(ms, zone.value, showsClock(interval))

export function PublishedBacktest({ id }: { readonly id: string }) {
  const loaded = useAnswer('GET /api/platform/ideas/{id}/snapshot', { path: { id } }, 'snapshot')
  return <Show of={loaded}>{(snapshot) => <Published snapshot={snapshot} />}</Show>
}

function Published({ snapshot }: { readonly snapshot: Snapshot }) {
  const run = useMemo(() => runOf(snapshot), [snapshot])
  const { exchange, symbol, interval, range, engine } = snapshot
  return (
    <section class={s.published} aria-label="Published backtest">
      <h2>{marketText({ exchange, symbol, interval })}</h2>
      <p class="muted">
        {counted(range.bars, 'bar')}, {rangeText(range, zone.value, showsClock(interval))} ·{' '}
        {settingsText(snapshot)} · {engine.name} {engine.version}
      </p>
      <ReplayableChart snapshot={snapshot} />
      <div class={s.figures}>
        <Overview run={run} />
      </div>
      {snapshot.proof && <ProofOf proof={snapshot.proof} snapshot={snapshot} />}
      <Trades snapshot={snapshot} />
    </section>
  )
}

/** What this server says of the sweep that the backtest comes from. */
function ProofOf({ proof, snapshot }: { proof: Proof; snapshot: Snapshot }) {
  const { verdict, isBest, varied, filtered, range } = proof
  const isSame = range.from === snapshot.range.from && range.to === snapshot.range.to
  return (
    <Section aria-label="Proof" title="How it was found">
      <p>
        <strong>{verdict.sentence}</strong>
      </p>
      <p class="muted">
        {isBest ? 'The best' : 'One'} of {count(verdict.trials)} trials over {count(varied)}{' '}
        {varied === 1 ? 'input' : 'inputs'}
        {filtered > 0 && `, after ${count(filtered)} were sorted out by the first bars`}. Wanted:{' '}
        {wantedText(proof)}. Worked out by this server, which has counted every choice that its author tried.
      </p>
      <p class="muted">
        {isSame
          ? 'The sweep ran on the same bars as this backtest.'
          : `The sweep ran on other bars than this backtest: ${count(range.bars)}, ${rangeText(range, zone.value, showsClock(snapshot.interval))}.`}
      </p>
      <VerdictFigures verdict={verdict} />
    </Section>
  )
}

/** The snapshot in the form that the report's own views take. Lists that are not published are empty. */
export function runOf(snapshot: Snapshot): ShownRun {
  const {
    curve,
    bars: _bars,
    barsFrom: _from,
    tradeCount: _count,
    proof: _proof,
    script,
    ...figures
  } = snapshot
  const column = (kind: 'equity' | 'buyhold' | 'drawdown', data: readonly (number | null)[]) => ({
    kind,
    id: kind,
    title: kind,
    pane: 'equity',
    overlay: false,
    data,
  })
  const tracks = [
    { kind: 'time', id: 'time', data: curve.time },
    column('equity', curve.equity),
    column('buyhold', curve.buyHold),
    column('drawdown', curve.drawdown),
  ] as unknown as readonly Track[]
  const none = { inputs: {}, orders: [], warnings: [], logs: [], alerts: [] }
  const timings = { compileMs: 0, runMs: 0, bars: figures.range.bars }
  const report = {
    version: 1 as const,
    ...figures,
    ...none,
    timings,
    script: { ...script, shorttitle: script.title, overlay: true },
  }
  return { id: null, name: script.title, report, tracks }
}

/** The settings that decide a result besides the script: capital, commission, slippage, and the day of their defaults. */
function settingsText({ initialCapital, currency, asOf, script: { declaration } }: Snapshot): string {
  const { commission_value: fee, commission_type: kind, slippage } = declaration
  const fees = !fee
    ? 'no commission'
    : kind === 'percent' || kind === undefined
      ? `commission ${String(fee)}%`
      : `commission ${String(fee)} ${currency}`
  const slip = slippage ? `, slippage ${String(slippage)} ticks` : ''
  return `${money(initialCapital, currency)} at the start, ${fees}${slip}, ${asOfText(asOf)}`
}

function ReplayableChart({ snapshot }: { readonly snapshot: Snapshot }) {
  const host = useRef<HTMLDivElement>(null)
  const [view, setView] = useState<ChartView | null>(null)
  const bars = useMemo(() => toBars(snapshot.bars), [snapshot])
  const last = bars.length - 1
  /** The last bar shown; null = all of them. */
  const [cut, setCut] = useState<number | null>(null)
  const [playing, setPlaying] = useState(false)
  const [marked, setMarked] = useState<number | null>(null)
  /** The bar under the pointer. */
  const [hovered, setHovered] = useState<number | null>(null)
  const { interval } = snapshot

  useEffect(() => {
    const made = new ChartView(host.current!, {
      onHover: (hover) => setHovered(hover?.bar ?? null),
      onClick: () => undefined,
      onRange: () => undefined,
      onLayout: () => undefined,
      onHeights: () => undefined,
    })
    setView(made)
    return () => made.destroy()
  }, [snapshot])
  useEffect(() => {
    view?.paint({
      ...EMPTY_SCENE,
      of: `${snapshot.exchange}:${snapshot.symbol} ${interval}`,
      bars,
      interval,
      mintick: snapshot.mintick,
      zone: zone.peek(),
      trades: { trades: snapshot.trades, base: -snapshot.barsFrom, currency: snapshot.currency },
      markedTrade: marked,
      cut,
      look: `${theme.value} ${palette.value}`,
    })
  }, [view, cut, marked, theme.value, palette.value])
  useSignalEffect(() => {
    const asked = lookAt.value
    if (!asked || !view) return
    lookAt.value = null
    const trade = snapshot.trades.find(({ n }) => n === asked.trade)
    setMarked(asked.trade ?? null)
    if (trade) view.camera.lookAtRange(barAt(bars, trade.entryTime), barAt(bars, trade.exitTime))
    else view.camera.lookAt(barAt(bars, asked.time))
    host.current?.scrollIntoView({ block: 'nearest' })
  })
  useEffect(() => {
    if (!playing) return undefined
    const timer = setInterval(() => setCut((at) => (at === null || at >= last ? null : at + 1)), STEP_MS)
    return () => clearInterval(timer)
  }, [playing, last])
  useEffect(() => {
    if (cut === null) setPlaying(false)
    else view?.camera.lookAt(cut, { edge: 0.8 })
  }, [cut, view])

  const play = () => {
    if (!playing && cut === null) setCut(Math.floor(last / 2))
    setPlaying(!playing)
  }
  const at = cut ?? last
  const shown = Math.min(hovered ?? at, at)
  return (
    <figure class={s.chart}>
      <BarValues bars={bars} bar={shown} mintick={snapshot.mintick} volume />
      <div
        ref={host}
        class={s.chartHost}
        // The wheel goes on through the page, whose trades are below; with Ctrl, as a pinch is told, it zooms.
        onWheelCapture={(event) => {
          if (!event.ctrlKey && !event.metaKey) event.stopPropagation()
        }}
        role="img"
        aria-label={`Chart of ${snapshot.symbol} with ${counted(snapshot.trades.length, 'trade')}`}
      />
      <figcaption class={s.replay}>
        {buttons([item(playing ? 'Pause' : 'Replay', playing ? 'pause' : 'play', play)], 'small')}
        <input
          type="range"
          aria-label="Last bar shown"
          min={0}
          max={last}
          value={at}
          onInput={(event) => {
            const to = Number(event.currentTarget.value)
            setCut(to >= last ? null : to)
          }}
        />
        <span class="num muted">{whenOf(snapshot)(bars.time[shown])}</span>
      </figcaption>
    </figure>
  )
}

function Trades({ snapshot }: { readonly snapshot: Snapshot }) {
  const { trades, tradeCount, currency, mintick } = snapshot
  if (trades.length === 0) return null
  const when = whenOf(snapshot)
  return (
    <Section class={p['section']} title="Trades">
      {tradeCount > trades.length && (
        <p>
          The newest {count(trades.length)} of {count(tradeCount)}.
        </p>
      )}
      <DataTable
        label="Trades"
        rows={trades}
        page={TRADES_SHOWN}
        order={{ by: 'n', down: true }}
        columns={({ own }) => [
          { of: 'n', head: '#', look: 'number' },
          { of: 'side', head: 'Side' },
          { of: 'entryTime', head: 'Entry', look: 'date', cell: (one) => when(one.entryTime) },
          { of: 'entryPrice', head: 'Price', look: 'number', cell: (one) => price(one.entryPrice, mintick) },
          own('exitTime', 'Exit', 'date', (one) => (one.status === 'open' ? 'open' : when(one.exitTime))),
          { of: 'exitPrice', head: 'Price', look: 'number', cell: (one) => price(one.exitPrice, mintick) },
          { of: 'qty', head: 'Size', look: 'number', cell: (one) => quantity(one.qty) },
          own('profit', 'Profit', 'number', (one) => money(one.profit, currency, { plus: true }), {
            tone: (one) => tone(one.profit),
          }),
          own('profitPct', '%', 'number', (one) => gain(one.profitPct)),
        ]}
      />
    </Section>
  )
}
