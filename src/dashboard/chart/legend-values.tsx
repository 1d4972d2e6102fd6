// Numbers of the legend: those of a bar, and those of what a script plots there.

import type { Bars } from '../../market/bars.ts'
import { compact, price, gain } from '../format.ts'
import { theme } from '../settings.ts'
import { cx } from '../ui/ui.tsx'
import { plotText } from './axis-text.ts'
import s from './chart.module.css'
import { colorAt, DISPLAY, type Mark, type PlotMark } from './marks.ts'
import { legible } from './paint.ts'

interface BarProps {
  readonly bars: Bars
  readonly bar: number
  readonly mintick: number
  /** Whether the volume is shown. */
  readonly volume: boolean
}

/** Open, high, low and close, the change since the bar before, and the volume. */
export function BarValues({ bars, bar, mintick, volume }: BarProps) {
  const [open, close] = [bars.open[bar]!, bars.close[bar]!]
  const before = bar > 0 ? bars.close[bar - 1]! : open
  const tone = close >= open ? 'up' : 'down'
  const change = close - before
  const values = [
    ['O', open],
    ['H', bars.high[bar]!],
    ['L', bars.low[bar]!],
    ['C', close],
  ] as const
  return (
    <span class={cx('num', s.legendValues)}>
      {values.map(([name, value]) => (
        <span key={name} class={name === 'C' ? undefined : s.wideOnly}>
          <span class="muted">{name}</span> <span class={tone}>{price(value, mintick)}</span>
        </span>
      ))}
      <span class={change >= 0 ? 'up' : 'down'}>
        {change >= 0 ? '+' : ''}
        {price(change, mintick)} ({gain(before === 0 ? null : change / before)})
      </span>
      {volume && bars.volume[bar]! > 0 && (
        <span class={s.legendVolume}>
          <span class="muted">Vol</span> {compact(bars.volume[bar]!)}
        </span>
      )}
    </span>
  )
}

/** What plots have on a bar, each in its colour. */
export function Values({ marks, bar }: { readonly marks: readonly Mark[]; readonly bar: number }) {
  return (
    <span class={cx('num', s.legendValues)}>
      {marks.map((mark, i) => {
        const value = valueOf(mark, bar)
        return value ? (
          <span key={i} title={mark.title || undefined} style={{ color: value.color }}>
            {value.text}
          </span>
        ) : null
      })}
    </span>
  )
}

function valueOf(mark: Mark, bar: number): { readonly text: string; readonly color: string } | null {
  if (mark.kind !== 'plot' || (mark.display & DISPLAY.statusLine) === 0) return null
  const i = bar - mark.start
  const value = mark.values[i]
  if (value === undefined) return null
  return { text: Number.isNaN(value) ? '∅' : plotText(value, mark.precision), color: colourOf(mark, i) }
}

const colourOf = (mark: PlotMark, i: number): string => {
  const color = colorAt(mark.colors, i)
  // A transparent plot is named in its colour at full opacity, and one without a colour in the colour of text.
  if (color === null || color.endsWith('00')) return 'var(--muted)'
  return legible(color.slice(0, 7), theme.value)
}
