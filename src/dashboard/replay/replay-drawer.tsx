// The drawer of the replay: controls, a timeline, the position at the cursor, and why orders filled.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { showsClock, barAt } from '../chart/bars.ts'
import { isSameMarket } from '../charts.ts'
import { chartView } from '../chart/on-screen.ts'
import { shown, zone } from '../chart/chart-state.ts'
import type { ChartTheme } from '../chart/paint.ts'
import { toUtc } from '../chart/zone.ts'
import { addCommands, commandOf, turns, type Command } from '../commands.ts'
import { count, counted, money, price, quantity, time as timeText, tone, gain } from '../format.ts'
import { attempt, Check } from '../frame/page.tsx'
import { Canvas, type Ctx, type Size } from '../report/canvas.tsx'
import { EquityChart } from '../report/equity-chart.tsx'
import { Badge, Button, cx, Empty, toastError } from '../ui/ui.tsx'
import { run } from '../workspace.ts'
import s from './replay.module.css'
import { fillsAt, orderText, SPEEDS, standingAt, ticksUntil, waitingAt } from './replay-model.ts'
import {
  begin,
  blind,
  bookmarks,
  cursor,
  end,
  goesOn,
  goTo,
  jumpBookmark,
  jumpTrade,
  length,
  playing,
  savedPlace,
  session,
  speed,
  step,
  stops,
  toggleBookmark,
  togglePlay,
  type SavedCursor,
} from './replay-session.ts'

export function ReplayDrawer() {
  return session.value ? <Player /> : <Start />
}

function Start() {
  const [saved, setSaved] = useState<SavedCursor | null>(null)
  const [date, setDate] = useState('')
  const [busy, setBusy] = useState(false)
  const chart = shown.value
  const market = chart?.market
  useEffect(() => {
    const abort = new AbortController()
    setSaved(null)
    if (market)
      savedPlace(market, abort.signal).then(setSaved, (error: unknown) => {
        if (!abort.signal.aborted) toastError(error)
      })
    return () => abort.abort()
  }, [market])
  const report = run.value?.report
  const fits = report && market && report.trades.length > 0 && isSameMarket(report, market)
  const start = (source: 'market' | 'backtest', options: Parameters<typeof begin>[1] = {}) => {
    setBusy(true)
    attempt(begin(source, options).finally(() => setBusy(false)))
  }
  const source = fits ? 'backtest' : 'market'
  useEffect(() => {
    if (saved && goesOn(source)) start(source, { saved })
  }, [saved, source])
  if (!chart || !market) return <Empty title="Replay">Bars are on their way.</Empty>
  const clock = showsClock(market.interval)
  const local = Date.parse(`${date}Z`)
  return (
    <div class={s.start}>
      <div>
        <h2>Replay</h2>
        <p class="muted">
          The chart forgets what comes next and shows it bar by bar
          {fits ? ', with the orders, the position and the equity of the run on it.' : '.'}
        </p>
      </div>
      <div class={s.startButtons}>
        {saved && (
          <Button variant="primary" icon="play" disabled={busy} onClick={() => start(source, { saved })}>
            Resume at{' '}
            {saved.barTime === null
              ? `bar ${count(saved.cursorBar)}`
              : timeText(saved.barTime, zone.value, clock)}
          </Button>
        )}
        {fits && (
          <Button
            variant={saved ? 'quiet' : 'primary'}
            icon="play"
            disabled={busy}
            onClick={() => start('backtest')}
          >
            From the first trade
          </Button>
        )}
        <Button
          variant={saved || fits ? 'quiet' : 'primary'}
          disabled={busy}
          onClick={() => {
            const range = chartView()?.camera.visible
            start(source, range ? { at: Math.round(range.from + (range.to - range.from) * 0.6) } : {})
          }}
        >
          From what is on screen
        </Button>
        <form
          class={s.startDate}
          onSubmit={(event) => {
            event.preventDefault()
            if (Number.isFinite(local)) start(source, { at: barAt(chart.bars, toUtc(local, zone.value)) })
          }}
        >
          <input
            class={s.date}
            type="date"
            aria-label="Date to start from"
            value={date}
            onInput={(event) => setDate(event.currentTarget.value)}
          />
          <Button type="submit" disabled={busy || !Number.isFinite(local)}>
            From this date
          </Button>
        </form>
      </div>
      <Check checked={blind.value} onChange={(on) => (blind.value = on)}>
        Blind: hide symbol and dates
      </Check>
    </div>
  )
}

const active = () => session.peek() !== null
/** On a button, Space presses the button. */
const free = () => active() && !document.activeElement?.matches('button, a, summary, [role="row"]')

const does = commandOf('Replay')
const COMMANDS: readonly Command[] = [
  does('replay:play', 'Play or pause', 'Space', togglePlay, free),
  does('replay:on', 'One bar on', 'ArrowRight', () => step(1), active),
  does('replay:back', 'One bar back', 'ArrowLeft', () => step(-1), active),
  does('replay:on10', 'Ten bars on', 'Shift+ArrowRight', () => step(10), active),
  does('replay:back10', 'Ten bars back', 'Shift+ArrowLeft', () => step(-10), active),
  does('replay:next', 'Next trade', 'N', () => jumpTrade(1), active),
  does('replay:previous', 'Previous trade', 'P', () => jumpTrade(-1), active),
  does('replay:bookmark', 'Bookmark this bar', 'B', () => void toggleBookmark(), active),
  does('replay:nextBookmark', 'Next bookmark', ']', () => jumpBookmark(1), active),
  does('replay:previousBookmark', 'Previous bookmark', '[', () => jumpBookmark(-1), active),
  does('replay:end', 'End the replay', '', end, active),
]
// The keys work while a replay is on, whichever drawer is open.
addCommands(COMMANDS)

const JUMPS = [
  [-1, '‹ Trade', 'Previous trade (P)'],
  [1, 'Trade ›', 'Next trade (N)'],
] as const

function Player() {
  const now = session.value!
  const bars = shown.value?.bars
  const bar = cursor.value
  const at = now.first + bar
  const clock = showsClock(now.market.interval)
  const marked = bookmarks.value.some((one) => one.bar === bar)
  if (!bars) return null
  return (
    <div class={s.player}>
      <div class={s.controls} role="toolbar" aria-label="Replay">
        <Button
          variant="primary"
          icon={playing.value ? 'pause' : 'play'}
          label={playing.value ? 'Pause (Space)' : 'Play (Space)'}
          onClick={togglePlay}
        />
        <Button variant="quiet" icon="back" label="One bar back (←)" onClick={() => step(-1)} />
        <Button variant="quiet" icon="step" label="One bar on (→)" onClick={() => step(1)} />
        <Speed />
        <span class={s.rule} />
        {JUMPS.map(([way, text, title]) => (
          <Button
            key={way}
            variant="quiet"
            disabled={stops.value.length === 0}
            onClick={() => jumpTrade(way)}
            title={title}
          >
            {text}
          </Button>
        ))}
        <span class={s.rule} />
        <Button
          variant="quiet"
          icon="bookmark"
          label={marked ? 'Take the bookmark away (B)' : 'Bookmark this bar (B)'}
          pressed={marked}
          onClick={() => void toggleBookmark()}
        />
        <Button
          variant="quiet"
          icon="eye"
          label="Blind: hide symbol and dates"
          pressed={blind.value}
          onClick={turns(blind)}
        />
        <span class={s.grow} />
        <span class={cx('num', s.where)}>
          {!blind.value && <b>{timeText(bars.time[at], zone.value, clock)}</b>}
          <span class="muted">
            bar {count(bar + 1)} of {blind.value ? '…' : count(length.value)}
          </span>
        </span>
        <Button size="small" onClick={end}>
          End replay
        </Button>
      </div>
      <Strip />
      <div class={s.panels}>{now.backtest ? <Strategy /> : <MarketOnly />}</div>
    </div>
  )
}

function Speed() {
  const at = SPEEDS.findIndex((one) => one >= speed.value)
  return (
    <label class={s.speed}>
      <span class="visually-hidden">Speed, bars a second</span>
      <input
        type="range"
        min={0}
        max={SPEEDS.length - 1}
        step={1}
        value={at < 0 ? SPEEDS.length - 1 : at}
        aria-valuetext={`${speed.value} bars a second`}
        onInput={(event) => (speed.value = SPEEDS[Number(event.currentTarget.value)] ?? 1)}
      />
      <span class="num">{speed.value} bars/s</span>
    </label>
  )
}

/** The timeline: trades, bookmarks and the cursor, which is moved by dragging or by arrow keys. */
function Strip() {
  const now = session.value!
  const bar = cursor.value
  const draw = (ctx: Ctx, { width }: Size, look: ChartTheme) => {
    const x = (at: number) => (at / Math.max(1, length.peek() - 1)) * width
    ctx.fillStyle = look.line
    ctx.fillRect(0, STRIP / 2 - 1, width, 2)
    ctx.fillStyle = look.accent
    ctx.fillRect(0, STRIP / 2 - 1, x(bar), 2)
    for (const { at, tone: color, isEntry } of ticksUntil(now.backtest?.report.trades ?? [], bar)) {
      ctx.fillStyle = look[color]
      ctx.fillRect(Math.round(x(at)), STRIP / 2 + (isEntry ? -9 : 2), 1, 7)
    }
    ctx.fillStyle = look.warn
    for (const mark of bookmarks.value) {
      const at = x(mark.bar)
      ctx.beginPath()
      ctx.moveTo(at - 3.5, 0)
      ctx.lineTo(at + 3.5, 0)
      ctx.lineTo(at + 3.5, 8)
      ctx.lineTo(at, 5.5)
      ctx.lineTo(at - 3.5, 8)
      ctx.fill()
    }
    ctx.fillStyle = look.text
    ctx.fillRect(Math.round(x(bar)) - 1, 3, 2, STRIP - 6)
  }
  const move = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect()
    goTo(((event.clientX - box.left) / box.width) * (length.peek() - 1))
  }
  return (
    <Canvas
      class={s.strip}
      of={[bar, now, bookmarks.value]}
      draw={draw}
      role="slider"
      tabIndex={0}
      aria-label="Bar of the replay"
      aria-valuemin={1}
      aria-valuemax={length.value}
      aria-valuenow={bar + 1}
      onPointerDown={(event) => {
        ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
        playing.value = false
        move(event)
      }}
      onPointerMove={(event) => event.buttons === 1 && move(event)}
      onKeyDown={(event) => {
        const page = Math.max(10, Math.round(length.peek() / 20))
        const to = { Home: 0, End: length.peek() - 1, PageUp: bar - page, PageDown: bar + page }[event.key]
        if (to === undefined) return
        event.preventDefault()
        goTo(to)
      }}
    />
  )
}
const STRIP = 28

interface FactProps {
  readonly name: string
  readonly class?: string
  readonly children: ComponentChildren
}

const Fact = ({ name, class: look = 'num', children }: FactProps) => (
  <div>
    <dt>{name}</dt>
    <dd class={look}>{children}</dd>
  </div>
)

function Strategy() {
  const now = session.value!
  const bars = shown.value?.bars
  const { report, tracks, id } = now.backtest!
  const bar = cursor.value
  if (!bars) return null
  const of = { report, tracks, bars, base: now.first }
  const standing = standingAt(of, bar)
  const fills = fillsAt(of, bar)
  const waiting = waitingAt(of, bar)
  const { currency, initialCapital } = report
  const side = standing.position > 0 ? 'Long' : standing.position < 0 ? 'Short' : 'Flat'
  return (
    <>
      <dl class={s.standing}>
        <Fact name="Position" class="">
          {side} {standing.position !== 0 && <span class="num">{quantity(Math.abs(standing.position))}</span>}
        </Fact>
        <Fact name="Average entry">{price(standing.averagePrice, report.mintick)}</Fact>
        <Fact name="Open profit" class={cx('num', tone(standing.openProfit))}>
          {standing.position === 0 ? '—' : money(standing.openProfit, currency, { plus: true })}
        </Fact>
        <Fact name="Closed profit" class={cx('num', tone(standing.closedProfit))}>
          {money(standing.closedProfit, currency, { plus: true })}
          <span class="muted"> in {counted(standing.trades, 'trade')}</span>
        </Fact>
        <Fact name="Equity">
          {money(standing.equity, currency)}
          {standing.equity !== null && (
            <span class="muted"> {gain(standing.equity / initialCapital - 1)}</span>
          )}
        </Fact>
      </dl>
      <section class={s.events} aria-label="Orders at this bar" aria-live={playing.value ? 'off' : 'polite'}>
        {fills.length === 0 && waiting.length === 0 && <p class="muted">No order fills on this bar.</p>}
        {fills.map(({ order, why }, i) => (
          <div key={i} class={s.event}>
            <Badge tone={order.side === 'buy' ? 'up' : 'down'}>{orderText(order)}</Badge>
            <span class="num">{price(order.price, report.mintick)}</span>
            <p class="muted">{why}</p>
          </div>
        ))}
        {waiting.map((order, i) => (
          <div key={`w${i}`} class={s.event}>
            <Badge>{orderText(order)}</Badge>
            <p class="muted">Waits for the next bar’s open.</p>
          </div>
        ))}
      </section>
      <div class={s.equity}>
        <EquityChart run={{ id, name: '', report, tracks }} upTo={bar} compactHeight blind={blind.value} />
      </div>
    </>
  )
}

function MarketOnly() {
  const now = session.value!
  const bars = shown.value?.bars
  if (!bars) return null
  const at = now.first + cursor.value
  const tick = run.value?.report.mintick ?? 0.01
  return (
    <dl class={s.standing}>
      {(['open', 'high', 'low', 'close'] as const).map((field) => (
        <Fact key={field} name={field[0]!.toUpperCase() + field.slice(1)}>
          {price(bars[field][at], tick)}
        </Fact>
      ))}
    </dl>
  )
}
