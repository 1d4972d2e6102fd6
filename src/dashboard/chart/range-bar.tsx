// The bar below the chart: how far back to show, the scale, and when the newest bar closes.

import { useEffect, useState } from 'preact/hooks'
import { Toolbar } from '../ui/toolbar.tsx'
import { Button } from '../ui/ui.tsx'
import { barMsOf } from './bars.ts'
import s from './chart.module.css'
import { priceScale, replayOnChart, shown, turnsScale, zone } from './chart-state.ts'
import type { ChartView } from './view.ts'

const DAY_MS = 86_400_000
/** Days back from the newest bar. */
const RANGES = [
  ['1D', 1, 'One day'],
  ['5D', 5, 'Five days'],
  ['1M', 30.44, 'One month'],
  ['3M', 91.3, 'Three months'],
  ['6M', 182.6, 'Six months'],
  ['YTD', 0, 'This year'],
  ['1Y', 365.25, 'One year'],
  ['5Y', 1826.25, 'Five years'],
  ['All', Infinity, 'All bars'],
] as const
const SCALES = [
  ['percent', '%', 'Scale in per cent'],
  ['log', 'log', 'Logarithmic scale'],
] as const
/** A range with fewer bars than this on the present interval is useless. */
const BARS_MIN = 4

export function RangeBar({ view }: { readonly view: ChartView | null }) {
  const chart = shown.value
  if (!view || !chart || chart.bars.length === 0 || replayOnChart.value) return null
  const { bars } = chart
  const last = bars.time[bars.length - 1]!
  const fromOf = (days: number) =>
    days === 0 ? Date.UTC(new Date(last).getUTCFullYear(), 0, 1) : last - days * DAY_MS
  return (
    <Toolbar label="Range and scale" class={s.rangeBar}>
      {RANGES.map(([name, days, words]) => {
        const few = days > 0 && (days * DAY_MS) / barMsOf(chart.market.interval) < BARS_MIN
        return (
          <Button
            key={name}
            size="small"
            variant="quiet"
            title={few ? `${words}: too short for this interval` : words}
            disabled={few}
            onClick={() => view.camera.showSince(fromOf(days))}
          >
            {name}
          </Button>
        )
      })}
      <span class={s.rangeGap} />
      <Closes />
      <Clock />
      {SCALES.map(([scale, text, title]) => (
        <Button
          key={scale}
          size="small"
          variant="quiet"
          pressed={priceScale.value === scale}
          title={title}
          onClick={turnsScale(scale)}
        >
          {text}
        </Button>
      ))}
      <Button
        size="small"
        variant="quiet"
        title="Fit the scale to what is shown"
        onClick={() => view.camera.autoScale()}
      >
        auto
      </Button>
    </Toolbar>
  )
}

/** The present time, which updates by itself. */
function useNow(): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** While the newest bar is forming: the time until it closes. */
function Closes() {
  const now = useNow()
  const chart = shown.value
  if (!chart) return null
  const length = barMsOf(chart.market.interval)
  const left = chart.bars.time[chart.bars.length - 1]! + length - now
  if (left <= 0 || left > length) return null
  return (
    <span class="num muted" title="Until the newest bar closes">
      {clockText(left)}
    </span>
  )
}

function Clock() {
  const now = useNow()
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone.value, timeStyle: 'medium' })
  return (
    <span class="num muted" title={`The time in ${zone.value}`}>
      {format.format(now)}
    </span>
  )
}

function clockText(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  const days = Math.floor(seconds / 86_400)
  const rest = new Date(seconds * 1000).toISOString().slice(11, 19)
  return days > 0 ? `${days}d ${rest}` : rest
}
