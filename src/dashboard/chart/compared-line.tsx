// The legend's line of another symbol on the chart.

import type { Bars } from '../../market/bars.ts'
import type { Compared, Market } from '../charts.ts'
import { nameOf, intervalText, gain, time } from '../format.ts'
import { theme } from '../settings.ts'
import { Button, cx, IconButton } from '../ui/ui.tsx'
import { plotText } from './axis-text.ts'
import { barMsOf, showsClock } from './bars.ts'
import { symbols, type Cell } from './cell.ts'
import s from './chart.module.css'
import { replayOnChart, zone } from './chart-state.ts'
import { changeBy, closesOn } from './compared.ts'
import { lastValue } from './draw-marks.ts'
import { changeCompared, COMPARE_SCALES, removeCompared } from './compare-symbols.ts'
import { factsOf } from './made-markets.ts'
import { legible } from './paint.ts'
import { useMemo } from 'preact/hooks'
import { navigate } from '../router.ts'
import { useFetchable, useFetching } from './fetch-symbol.tsx'

const SCALES: Readonly<Record<Compared['scale'], readonly [text: string, about: string]>> = {
  percent: ['%', 'Begins where the chart does, and shows how far each has moved'],
  own: ['own', 'On a scale of its own, as high as the chart'],
  price: ['price', 'On the scale of the chart'],
}

interface OnBar {
  readonly cell: Cell
  readonly bars: Bars
  readonly bar: number
}

/** Another symbol's line: its close at the crosshair, how far it has moved in view, and what can be done with it. */
export function ComparedLine({ compared, ...on }: OnBar & { readonly compared: Compared }) {
  const { cell } = on
  const { exchange, symbol, scale, color, hidden } = compared
  const found = cell.comparedBars.value[nameOf(compared)]
  const name = factsOf(symbols.value ?? [], compared)?.description || symbol
  const next = COMPARE_SCALES[(COMPARE_SCALES.indexOf(scale) + 1) % COMPARE_SCALES.length]!
  const blind = replayOnChart.value?.blind === true
  return (
    <div class={s.legendLine} data-dim={hidden}>
      <span class={s.comparedName} style={{ color: legible(color, theme.value) }}>
        {blind ? 'Hidden symbol' : name}
      </span>
      {!blind && <span class="muted">{exchange}</span>}
      {found instanceof Error ? (
        <ComparedMissing
          of={{ exchange, symbol, interval: cell.market.value.interval }}
          about={found.message}
        />
      ) : (
        found && <ComparedValue {...on} other={found} />
      )}
      <span class={s.legendTools}>
        <Button
          variant="quiet"
          size="small"
          class={s.scaleButton ?? ''}
          title={`${SCALES[scale][1]}. Press for: ${SCALES[next][1].toLowerCase()}`}
          onClick={() => changeCompared(cell, compared, { scale: next })}
        >
          {SCALES[scale][0]}
        </Button>
        <IconButton
          icon="eye"
          label={hidden ? `Show ${symbol}` : `Hide ${symbol}`}
          pressed={hidden}
          onClick={() => changeCompared(cell, compared, { hidden: !hidden })}
        />
        <IconButton
          icon="close"
          label={`Take ${symbol} off the chart`}
          onClick={() => removeCompared(cell, compared)}
        />
      </span>
    </div>
  )
}

function ComparedValue({ cell, bars, other, bar }: OnBar & { readonly other: Bars }) {
  const { interval } = cell.market.value
  const values = useMemo(() => closesOn(bars, other, barMsOf(interval)), [bars, other, interval])
  const at = lastValue(values, bar)
  const change = changeBy(values, cell.leftBar.value, at)
  if (Number.isNaN(change)) return <span class="muted">{awayText(other, interval)}</span>
  return (
    <span class={cx('num', s.legendValues)}>
      <span>{plotText(values[at]!)}</span>
      <span class={change >= 0 ? 'up' : 'down'} title="Since the first bar in view">
        {gain(change)}
      </span>
    </span>
  )
}

/** What is said of a symbol at a bar that it has none for. */
const awayText = (other: Bars, interval: string): string => {
  if (other.length === 0 || replayOnChart.peek()?.blind) return 'no bars here'
  const [from, to] = [other.time[0], other.time[other.length - 1]].map((at) =>
    time(at, zone.value, showsClock(interval)),
  )
  return `no bars here: it has ${from} to ${to}`
}

/** What the legend says of a compared symbol without bars, with the way to get some. */
function ComparedMissing({ of, about }: { readonly of: Market; readonly about: string }) {
  const { exchange, interval } = of
  const { exchanges, isKnown } = useFetchable(nameOf(of))
  const { fetching, fetchIt } = useFetching()
  return (
    <>
      <span class="down" title={about}>
        no bars at {intervalText(interval)}
      </span>
      {!isKnown ? null : exchanges.includes(exchange) ? (
        // The chart hears of new bars by itself.
        <Button
          size="small"
          class={s.fold ?? ''}
          disabled={fetching !== null}
          onClick={() => fetchIt(of, () => {})}
        >
          {fetching ? `Fetching, ${Math.round(fetching.fraction * 100)}%` : `Fetch from ${exchange}`}
        </Button>
      ) : (
        <Button size="small" class={s.fold ?? ''} onClick={() => navigate('/markets/sources')}>
          Import bars
        </Button>
      )}
    </>
  )
}
