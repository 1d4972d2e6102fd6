// The legend in each pane's corner: OHLC and change of the bar under the crosshair, and every plot's value in its colour.

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Bars } from '../../market/bars.ts'
import type { Study } from '../charts.ts'
import { turns } from '../commands.ts'
import { nameOf, percent, intervalText } from '../format.ts'
import { lazy } from '../frame/lazy.tsx'
import { remembered } from '../settings.ts'
import { changeStudy, removeStudy, settingsOf, type Layer } from '../studies/studies.ts'
import { Button, cx, IconButton } from '../ui/ui.tsx'
import { cancelRun, runScript } from '../run-script.ts'
import { outrun, run, running, runProgress } from '../workspace.ts'
import s from './chart.module.css'
import type { Cell } from './cell.ts'
import { replayOnChart, symbolSearch } from './chart-state.ts'
import type { PaneBox } from './view.ts'
import { BarValues, Values } from './legend-values.tsx'
import { paneOf, type RunMarks } from './marks.ts'

const addition = { isAddition: true }
const ComparedLine = lazy(async () => (await import('./compared-line.tsx')).ComparedLine, addition)
const StudyMenu = lazy(async () => (await import('../studies/study-menu.tsx')).StudyMenu, addition)

/** A pane's legend with at least this many lines can be folded, so that it never hides the candles. */
const FOLDS_FROM = 3
const folded = remembered('chart.legend.folded', false)

interface LegendsProps {
  readonly cell: Cell
  /** Whether the script in the editor runs on this chart. */
  readonly withScript: boolean
  readonly main: RunMarks | null
  readonly layers: readonly Layer[]
  /** The last bar that a replay shows. */
  readonly cut: number | null
}

export function Legends({ cell, withScript, main, layers, cut }: LegendsProps) {
  const chart = cell.drawn.value
  const bars = chart?.bars
  if (!bars || bars.length === 0 || cut === -1) return null
  const last = cut ?? bars.length - 1
  const bar = Math.min(cell.hover.value?.bar ?? last, last)
  return (
    <>
      {cell.paneBoxes.value.map((box) => {
        const isPrice = box.name === 'price'
        const studies = layers.filter((layer) => panesOf(layer).includes(box.name))
        const foldable = isPrice && studies.length >= FOLDS_FROM
        return (
          <LegendBox key={box.name} cell={cell} box={box}>
            {isPrice && <PriceLine cell={cell} bars={bars} bar={bar} />}
            {isPrice &&
              cell.compared.value?.map((one) => (
                <ComparedLine key={nameOf(one)} cell={cell} compared={one} bar={bar} bars={bars} />
              ))}
            {isPrice && chart.source && (main || layers.length > 0) && (
              <div class={s.legendLine}>
                <span class="muted" title="Their trades and drawings are not shown on this type of chart">
                  Scripts run on the real bars
                </span>
              </div>
            )}
            {main && <ScriptLine cell={cell} script={main} pane={box.name} bar={bar} />}
            {!(foldable && folded.value) &&
              studies.map((layer) => (
                <StudyLine key={layer.study.id} layer={layer} pane={box.name} bar={bar} />
              ))}
            {foldable && (
              <Button
                variant="quiet"
                size="small"
                class={s.fold ?? ''}
                aria-expanded={!folded.value}
                onClick={turns(folded)}
              >
                {folded.value ? `${studies.length} indicators` : 'Fold'}
              </Button>
            )}
            {isPrice && withScript && running.value && (
              <Button size="small" class={s.cancel ?? ''} onClick={cancelRun}>
                {runProgress.value === null ? '' : `${percent(runProgress.value, { places: 0 })} · `}Cancel
                the run
              </Button>
            )}
          </LegendBox>
        )
      })}
    </>
  )
}

const LEGEND_TOP = 8
const LEGEND_ROOM = 6

/** Keeps what is drawn clear of its lines. */
function LegendBox({ cell, box, children }: { cell: Cell; box: PaneBox; children: ComponentChildren }) {
  const place = useRef<HTMLDivElement>(null)
  // An observer is told by the browser after it has laid out the page: asking in each render would lay it out twice.
  useLayoutEffect(() => {
    const element = place.current!
    /** The highest that so many lines were: numbers under the crosshair wrap now and then, which must not move the chart. */
    let [count, highest] = [-1, 0]
    const leave = () => {
      const lines = element.querySelectorAll<HTMLElement>(`:scope > .${s.legendLine}`)
      const last = lines[lines.length - 1]
      const height = last ? last.offsetTop + last.offsetHeight : 0
      if (lines.length === count && height <= highest) return
      ;[count, highest] = [lines.length, height]
      const right = Math.max(0, ...[...lines].map((line) => line.offsetWidth))
      const end = {
        bottom: height === 0 ? 0 : LEGEND_TOP + height + LEGEND_ROOM,
        right: element.offsetLeft + right + LEGEND_ROOM,
      }
      cell.legends.value = { ...cell.legends.peek(), [box.name]: end }
    }
    const observer = new ResizeObserver(leave)
    observer.observe(element)
    // In the typeface that stands in for the page's own, lines may have wrapped that do not.
    void document.fonts.ready.then(() => {
      count = -1
      if (element.isConnected) leave()
    })
    return () => observer.disconnect()
  }, [cell, box.name, box.height])
  return (
    <div ref={place} class={s.legend} style={{ top: `${box.top + LEGEND_TOP}px` }}>
      {children}
    </div>
  )
}

/** The panes whose legends name a study: its own, and the price's for plots that overlay it or are not drawn. */
function panesOf({ study, marks, pane }: Layer): readonly string[] {
  if (pane !== null) return [pane]
  const own = marks?.panes.map(({ name }) => paneOf(study.id, name)) ?? []
  return own.length === 0 ? ['price'] : own.length > 1 ? own.filter((name) => name !== 'price') : own
}

function PriceLine({ cell, bars, bar }: { readonly cell: Cell; readonly bars: Bars; readonly bar: number }) {
  const { symbol, exchange, interval } = cell.market.value
  const blind = replayOnChart.value?.blind === true
  return (
    <div class={s.legendLine}>
      <button type="button" class={s.legendTitle} onClick={() => (symbolSearch.value = '')} disabled={blind}>
        {blind ? 'Hidden symbol' : cell.symbol.value?.description || symbol}
        <span class="muted">
          {' · '}
          {intervalText(interval)}
          {!blind && ` · ${exchange}`}
        </span>
      </button>
      <BarValues bars={bars} bar={bar} mintick={cell.mintick.value} volume={cell.volume.value} />
    </div>
  )
}

interface LineProps {
  readonly pane: string
  readonly bar: number
}

interface ScriptLineProps extends LineProps {
  readonly cell: Cell
  readonly script: RunMarks
}

function ScriptLine({ cell, script, pane, bar }: ScriptLineProps) {
  const isShown = cell.showScript.value
  const marks = (isShown && script.panes.find((one) => one.name === pane)?.marks) || []
  if (marks.length === 0 && pane !== 'price') return null
  return (
    <div class={s.legendLine} data-dim={!isShown}>
      <span class={s.legendScript}>{script.title}</span>
      <Values marks={marks} bar={bar} />
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
          <IconButton
            icon="eye"
            label={isShown ? 'Hide the script' : 'Show the script'}
            pressed={!isShown}
            onClick={() => (cell.showScript.value = !isShown)}
          />
          <StudyMenu title={script.title} />
          <IconButton icon="close" label="Take the script off the chart" onClick={() => (run.value = null)} />
        </span>
      )}
    </div>
  )
}

/** A study's line: its values at the crosshair, and what can be done with it. */
function StudyLine({ layer, pane, bar }: LineProps & { readonly layer: Layer }) {
  const { study, title, values, marks: all, pane: chosen, problem, running: busy } = layer
  const openSettings = () => (settingsOf.value = study.id)
  const marks = (all?.panes ?? []).flatMap((one) =>
    paneOf(study.id, one.name, chosen) === pane ? one.marks : [],
  )
  return (
    <div class={s.legendLine} data-dim={all === null && !busy}>
      <button
        type="button"
        class={cx(s.legendTitle, s.legendScript)}
        title={`Settings of ${study.name}`}
        onClick={openSettings}
      >
        {title}
        <span class="muted"> {inputsText(values, study.inputs)}</span>
      </button>
      {problem === null ? (
        <Values marks={marks} bar={bar} />
      ) : (
        <span class={cx('down', s.legendProblem)} title={problem}>
          could not run: {problem}
        </span>
      )}
      <span class={s.legendTools}>
        <IconButton
          icon="eye"
          label={study.hidden ? `Show ${title}` : `Hide ${title}`}
          pressed={study.hidden}
          onClick={() => changeStudy(study.id, { hidden: !study.hidden })}
        />
        <IconButton icon="settings" label={`Settings of ${title}`} onClick={openSettings} />
        <StudyMenu study={study} title={title} />
        <IconButton
          icon="close"
          label={`Take ${title} off the chart`}
          onClick={() => removeStudy(study.id)}
        />
      </span>
    </div>
  )
}

/** In milliseconds: spring of 1973. */
const TIMES_FROM = 1e11

/** The numbers it ran with, but for times, and words that were changed, as `14 · hl2`. */
const inputsText = (values: Layer['values'], changed: Study['inputs']): string =>
  Object.entries({ ...values, ...changed })
    .filter(([name, value]) =>
      typeof value === 'number' ? Math.abs(value) < TIMES_FROM : typeof value === 'string' && name in changed,
    )
    .map(([, value]) => value)
    .slice(0, 4)
    .join(' · ')
