// What the crosshair is on: OHLC and change of the bar, and every plot's value in its colour. In each pane's corner.

import type { Bars } from '../../market/bars.ts'
import { compact, percent, price } from '../format.ts'
import { theme } from '../settings.ts'
import { Button, cx } from '../ui/ui.tsx'
import { runScript } from '../run-script.ts'
import { market, outrun, run, running } from '../workspace.ts'
import s from './chart.module.css'
import {
  hover,
  intervalText,
  mintick,
  paneBoxes,
  replayOnChart,
  shown,
  showScript,
  showVolume,
  symbol,
  symbolSearch,
} from './chart-state.ts'
import { legible } from './paint.ts'
import { colorAt, DISPLAY, type Mark, type PlotMark, type Scene } from './scene.ts'

export function Legends({ scene }: { readonly scene: Scene | null }) {
  const bars = shown.value?.bars
  if (!bars || bars.length === 0) return null
  const last = replayOnChart.value?.cut ?? bars.length - 1
  const bar = Math.min(hover.value?.bar ?? last, last)
  return (
    <>
      {paneBoxes.value.map((box) => (
        <div key={box.name} class={s.legend} style={{ top: `${box.top + 8}px` }}>
          {box.name === 'price' && <PriceLine bars={bars} bar={bar} />}
          {scene && <ScriptLine scene={scene} pane={box.name} bar={bar} />}
        </div>
      ))}
    </>
  )
}

function PriceLine({ bars, bar }: { readonly bars: Bars; readonly bar: number }) {
  const blind = replayOnChart.value?.blind === true
  const tick = mintick.value
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
    <div class={s.legendLine}>
      <button type="button" class={s.legendTitle} onClick={() => (symbolSearch.value = '')} disabled={blind}>
        {blind ? 'Hidden symbol' : symbol.value?.description || market.value.symbol}
        <span class="muted">
          {' · '}
          {intervalText(market.value.interval)}
          {!blind && ` · ${market.value.exchange}`}
        </span>
      </button>
      <span class={cx('num', s.legendValues)}>
        {values.map(([name, value]) => (
          <span key={name} class={name === 'C' ? undefined : s.wideOnly}>
            <span class="muted">{name}</span> <span class={tone}>{price(value, tick)}</span>
          </span>
        ))}
        <span class={change >= 0 ? 'up' : 'down'}>
          {change >= 0 ? '+' : ''}
          {price(change, tick)} ({percent(before === 0 ? null : change / before, { plus: true })})
        </span>
        {showVolume.value && bars.volume[bar]! > 0 && (
          <span>
            <span class="muted">Vol</span> {compact(bars.volume[bar]!)}
          </span>
        )}
      </span>
    </div>
  )
}

function ScriptLine({
  scene,
  pane,
  bar,
}: {
  readonly scene: Scene
  readonly pane: string
  readonly bar: number
}) {
  const marks = scene.panes.find((one) => one.name === pane)?.marks ?? []
  if (marks.length === 0 && pane !== 'price') return null
  return (
    <div class={s.legendLine}>
      <span class={s.legendScript}>{scene.title}</span>
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
      {pane === 'price' && outrun.value && !running.value && (
        <button
          type="button"
          class={s.outrun}
          title="The script in the editor differs from the one drawn here"
          onClick={() => void runScript()}
        >
          not the editor’s text · Run
        </button>
      )}
      {pane === 'price' && run.value && (
        <span class={s.legendTools}>
          <Button
            variant="quiet"
            size="small"
            icon="eye"
            label={showScript.value ? 'Hide the script' : 'Show the script'}
            pressed={!showScript.value}
            onClick={() => (showScript.value = !showScript.value)}
          />
          <Button
            variant="quiet"
            size="small"
            icon="close"
            label="Take the script off the chart"
            onClick={() => (run.value = null)}
          />
        </span>
      )}
    </div>
  )
}

function valueOf(mark: Mark, bar: number): { readonly text: string; readonly color: string } | null {
  if (mark.kind !== 'plot' || (mark.display & DISPLAY.statusLine) === 0) return null
  const i = bar - mark.start
  const value = mark.values[i]
  if (value === undefined) return null
  return { text: Number.isNaN(value) ? '∅' : plotText(value), color: colourOf(mark, i) }
}

const colourOf = (mark: PlotMark, i: number): string => {
  const color = colorAt(mark.colors, i)
  // A transparent plot is named in its full colour; one without a colour in that of the text.
  if (color === null || color.endsWith('00')) return 'var(--muted)'
  return legible(color.slice(0, 7), theme.value)
}

function plotText(value: number): string {
  const size = Math.abs(value)
  if (size >= 1e7) return compact(value)
  return price(value, size >= 1000 ? 0.01 : size >= 1 ? 0.001 : 0.00001)
}
