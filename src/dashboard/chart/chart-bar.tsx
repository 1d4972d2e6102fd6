// The chart's controls in the top bar: symbol, interval, type, scale, zone, visibility, picture.

import { keysShown, turns, withKeys } from '../commands.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Button } from '../ui/ui.tsx'
import { count, intervalText } from '../format.ts'
import { runBars, runScript } from '../run-script.ts'
import { drawingBar, timezone } from '../settings.ts'
import { bottom, market } from '../workspace.ts'
import s from './chart.module.css'
import {
  chartType,
  compare,
  intervalsOf,
  priceScale,
  replayOnChart,
  showMarket,
  showScript,
  showTrades,
  showVolume,
  studyDialog,
  symbol,
  symbolSearch,
  zone,
} from './chart-state.ts'
import { CHART_TYPES, isPriceType, LINE_TYPES, TYPE_NAMES } from './draw-bars.ts'
import { GridMenu } from '../layouts/grid-menu.tsx'
import { LayoutMenu } from '../layouts/layout-menu.tsx'
import { item, Menu, type MenuItem } from '../ui/menu.tsx'
import { chartView, goToDate, takePicture } from './on-screen.ts'
import { words } from '../../lib/words.ts'

/** Choices for the length of a run; the last one is the most bars that a run may have. */
const RUN_BARS = [1000, 5000, 20_000, 100_000, 2_000_000]
const ZONES = words(
  'UTC America/Los_Angeles America/Chicago America/New_York America/Sao_Paulo Europe/London',
  'Europe/Berlin Europe/Athens Asia/Dubai Asia/Kolkata Asia/Singapore Asia/Hong_Kong Asia/Tokyo',
  'Australia/Sydney',
)

export function ChartBar() {
  const blind = replayOnChart.value?.blind === true
  return (
    <div class={s.bar}>
      <button
        type="button"
        class={s.symbolButton}
        onClick={() => (symbolSearch.value = '')}
        aria-label={`Symbol ${blind ? 'hidden' : market.value.symbol}, change`}
        title="Change symbol (/)"
        disabled={blind}
      >
        {blind ? '•••' : market.value.symbol}
        <Icon name="chevron" size={12} />
      </button>
      <Button
        variant="quiet"
        class={s.hideNarrow ?? ''}
        icon="plus"
        label={withKeys('Compare with another symbol', 'chart:compare')}
        disabled={blind}
        onClick={compare}
      />
      <Menu bar label={`Interval: ${intervalText(market.value.interval)}`} items={intervalItems}>
        {intervalText(market.value.interval)}
        <Icon name="chevron" size={12} />
      </Menu>
      <span class={s.rule} />
      <Menu bar label={`Chart type: ${TYPE_NAMES[chartType.value]}`} items={typeItems}>
        <Icon name={LINE_TYPES.includes(chartType.value) ? 'chart' : 'candles'} />
        <span class={s.wide}>{TYPE_NAMES[chartType.value]}</span>
      </Menu>
      <Menu
        bar
        label={`Scale and time zone: ${scaleText()} · ${zoneText(zone.value)}`}
        items={scaleItems}
        class={s.hideNarrow}
      >
        {scaleText()}
        <span class={s.wide}> · {zoneText(zone.value)}</span>
      </Menu>
      <Menu bar label="Show or hide" items={shownItems} class={s.hideNarrow}>
        <Icon name="eye" />
        <span class={s.wide}>Show</span>
      </Menu>
      <GridMenu narrow={s.hideNarrow} />
      <LayoutMenu wide={s.wide} narrow={s.hideNarrow} />
      <span class={s.rule} />
      <Button
        variant="quiet"
        icon="code"
        title={withKeys('Indicators and strategies', 'chart:studies')}
        onClick={() => (studyDialog.value = '')}
      >
        <span class={s.wide}>Indicators</span>
      </Button>
      <Button
        variant="quiet"
        icon="note"
        pressed={drawingBar.value}
        label={drawingBar.value ? 'Hide the drawing tools' : 'Show the drawing tools'}
        onClick={turns(drawingBar)}
      />
      <Button
        class={s.hideNarrow ?? ''}
        variant="quiet"
        icon="replay"
        onClick={() => (bottom.value = 'replay')}
        title="Replay"
      >
        <span class={s.wide}>Replay</span>
      </Button>
      <Button
        variant="quiet"
        class={s.hideNarrow ?? ''}
        icon="camera"
        label="Save a picture of the chart"
        onClick={takePicture}
      />
    </div>
  )
}

const scaleText = (): string => ({ log: 'Log', percent: '%', linear: 'Auto' })[priceScale.value]
const zoneText = (name: string): string => name.split('/').at(-1)!.replaceAll('_', ' ')

function intervalItems(): readonly MenuItem[] {
  return intervalsOf(symbol.value).map((interval) => {
    const checked = interval === market.value.interval
    return item(intervalWords(interval), '', () => showMarket({ ...market.value, interval }), { checked })
  })
}

function intervalWords(interval: string): string {
  const [, many = '1', unit = ''] = /^(\d+)(\w)$/.exec(interval) ?? []
  const word = { s: 'second', m: 'minute', h: 'hour', d: 'day', w: 'week', M: 'month' }[unit] ?? interval
  return `${many} ${word}${many === '1' ? '' : 's'}`
}

function typeItems(): readonly MenuItem[] {
  const now = chartType.value
  const openSettings = () => void import('./boxes-dialog.tsx').then((dialog) => dialog.openBoxesDialog())
  return [
    ...(isPriceType(now)
      ? [item(`Settings of ${TYPE_NAMES[now].toLowerCase()}…`, 'settings', openSettings)]
      : []),
    ...CHART_TYPES.map((type) =>
      item(TYPE_NAMES[type], '', () => (chartType.value = type), {
        section: isPriceType(type) ? 'By price, whatever the time' : 'By time',
        checked: now === type,
      }),
    ),
  ]
}

const SCALES = [
  ['linear', 'Linear'],
  ['log', 'Logarithmic'],
  ['percent', 'Per cent'],
] as const

function scaleItems(): readonly MenuItem[] {
  const local = Intl.DateTimeFormat().resolvedOptions().timeZone
  const zones = ['', ...new Set([local, ...ZONES])]
  return [
    ...SCALES.map(([id, text]) =>
      item(text, '', () => (priceScale.value = id), {
        hint: id === 'linear' ? '' : keysShown(`chart:${id}`),
        section: 'Price scale',
        checked: priceScale.value === id,
      }),
    ),
    ...zones.map((name) => {
      const text = name === '' ? `Exchange (${symbol.value?.timezone ?? 'UTC'})` : name.replaceAll('_', ' ')
      const checked = timezone.value === name
      return item(text, '', () => (timezone.value = name), { section: 'Time zone', checked })
    }),
  ]
}

const SWITCHES = [
  ['Volume', showVolume],
  ['Trades', showTrades],
  ['Script', showScript],
] as const

function shownItems(): readonly MenuItem[] {
  const ofView = (text: string, icon: IconName, id: string, run: () => void) =>
    item(text, icon, run, { hint: keysShown(`chart:${id}`), section: 'View' })
  return [
    ...SWITCHES.map(([text, of]) => item(text, '', turns(of), { section: 'Show', on: of.value })),
    ofView('All bars', 'expand', 'fit', () => chartView()?.camera.fit()),
    ofView('Reset', 'expand', 'reset', () => chartView()?.camera.toEnd()),
    ofView('Go to date…', 'clock', 'date', goToDate),
    ...RUN_BARS.map((bars) => {
      const run = () => {
        runBars.value = bars
        void runScript()
      }
      const text = bars === RUN_BARS.at(-1) ? 'All there are' : `Newest ${count(bars)}`
      return item(text, '', run, { section: 'Bars a script runs on', checked: runBars.value === bars })
    }),
  ]
}
