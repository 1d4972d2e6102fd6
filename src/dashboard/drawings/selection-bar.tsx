// The bar for the selected drawings: colour, width, line, text, and actions.

import { useState } from 'preact/hooks'
import { item, type MenuItem, Menu } from '../ui/menu.tsx'
import { intervalText } from '../format.ts'
import { theme } from '../settings.ts'
import { market } from '../workspace.ts'
import type { Drawing, DrawingStyle } from '../../wire/drawing.ts'
import { Icon } from '../ui/icon.tsx'
import { openDialog } from '../ui/dialogs.tsx'
import { toast, IconButton } from '../ui/ui.tsx'
import { mintick, shown } from '../chart/chart-state.ts'
import { NO_BARS } from '../chart/scene.ts'
import { barMsOf } from '../chart/bars.ts'
import { askDrawingAlert } from './drawing-alert.ts'
import { justMade, newDrawingId, selected, selection, styles } from './drawing-state.ts'
import { styleOf } from './drawn.ts'
import s from './drawings.module.css'
import { removeSelected } from './gestures.ts'
import { openObjectList } from './object-list.tsx'
import { changeDrawings, drawings } from './sheet.ts'
import { StyleTemplates } from './style-templates.tsx'
import { watchables, type WatchedChart } from './watchables.ts'
import { HAS_FILL, HAS_LEVELS, HAS_TEXT, IS_POSITION, TOOL_NAMES } from './tools.ts'

const COLORS = [
  ['#2962ff', 'Blue'],
  ['#f23645', 'Red'],
  ['#089981', 'Green'],
  ['#ff9800', 'Orange'],
  ['#9c27b0', 'Purple'],
  ['#00bcd4', 'Cyan'],
  ['#fdd835', 'Yellow'],
  ['#787b86', 'Grey'],
  ['#ffffff', 'White'],
  ['#131722', 'Black'],
] as const
const WIDTHS = [1, 2, 3, 4, 6].map((width) => [width, `${width} px`] as const)
/** What the quantity of a position is worked out from: the name of the style's field, its words, and the most it can be. */
const MONEY = [
  ['accountSize', 'Account', 1e15],
  ['risk', 'Risk, %', 100],
] as const
const LINES = [
  ['solid', 'Solid'],
  ['dashed', 'Dashed'],
  ['dotted', 'Dotted'],
] as const

export function SelectionBar() {
  const chosen = selection.value
  const first = chosen[0]
  if (!first) return null
  const style = styleOf(first, theme.value)
  const title = chosen.length === 1 ? TOOL_NAMES[first.tool] : `${chosen.length} drawings`
  return (
    <div class={s.selection} role="toolbar" aria-label={`${title}: style`}>
      <span class={s.selectionTitle}>{title}</span>
      <Menu bar label={`Colour: ${nameOf(first.style.color)}`} items={() => colorItems(first.style.color)}>
        <span class={s.swatch} style={{ background: style.color }} />
      </Menu>
      <label class={s.ownColor} title="Any colour">
        <span class="visually-hidden">Any colour</span>
        <input
          type="color"
          value={style.color.slice(0, 7)}
          onChange={(event) => restyle({ color: event.currentTarget.value })}
        />
      </label>
      <Menu
        bar
        label={`Width: ${style.lineWidth}`}
        items={() => choices(WIDTHS, style.lineWidth, (lineWidth) => ({ lineWidth }))}
      >
        {style.lineWidth}px
      </Menu>
      <Menu
        bar
        label={`Line: ${style.lineStyle ?? 'solid'}`}
        items={() => choices(LINES, style.lineStyle ?? 'solid', (lineStyle) => ({ lineStyle }))}
      >
        <span class={s.lineSample} data-line={style.lineStyle ?? 'solid'} />
      </Menu>
      {chosen.every(({ tool }) => HAS_TEXT.has(tool)) && (
        <TextField key={first.id} id={first.id} text={first.style.text ?? ''} />
      )}
      {chosen.every(({ tool }) => HAS_LEVELS.has(tool)) && (
        <LevelsField key={`${first.id}levels`} levels={style.levels ?? []} />
      )}
      {chosen.every(({ tool }) => IS_POSITION.has(tool)) &&
        MONEY.map((of) => <MoneyField key={first.id + of[0]} of={of} now={style[of[0]]} />)}
      <Menu bar label="More for this drawing" items={selectionItems}>
        <Icon name="more" />
      </Menu>
      <IconButton icon="trash" label="Remove (Delete)" onClick={removeSelected} />
    </div>
  )
}

/** What is being typed stays while the drawing comes anew from the server, until the field is left. */
function useTyped(stored: string, done: (text: string) => void) {
  const [typed, setTyped] = useState<string | null>(null)
  type Typed = { readonly currentTarget: { readonly value: string } }
  return {
    value: typed ?? stored,
    onInput: (event: Typed) => setTyped(event.currentTarget.value),
    onChange: (event: Typed) => {
      setTyped(null)
      done(event.currentTarget.value)
    },
  }
}

function TextField({ id, text }: { readonly id: string; readonly text: string }) {
  const typed = useTyped(text, (now) => restyle({ text: now }))
  return (
    <textarea
      {...typed}
      ref={id === justMade.peek() ? typeAtOnce : null}
      class={s.text}
      rows={1}
      maxLength={2000}
      aria-label="Text"
      placeholder="Text"
    />
  )
}

function LevelsField({ levels }: { readonly levels: readonly number[] }) {
  const typed = useTyped(levels.join(' '), (text) => {
    const found = levelsOf(text)
    if (found) restyle({ levels: found })
    else toast('Levels are numbers from -100 to 100, separated by spaces, at most 40.', { tone: 'down' })
  })
  return (
    <input
      {...typed}
      class={s.text}
      aria-label="Levels, separated by spaces"
      title="Levels, separated by spaces"
    />
  )
}

interface MoneyProps {
  readonly of: (typeof MONEY)[number]
  readonly now: number | undefined
}

function MoneyField({ of: [field, label, most], now }: MoneyProps) {
  const typed = useTyped(String(now ?? ''), (text) => {
    const value = Number(text.replaceAll(/[\s,’']/g, ''))
    if (value >= 0 && value <= most) restyle({ [field]: value })
    else toast(`${label} is a number from 0 to ${most.toLocaleString('en-US')}.`, { tone: 'down' })
  })
  return (
    <label class={s.money}>
      <span class="muted">{label}</span>
      <input {...typed} class={s.text} inputMode="decimal" />
    </label>
  )
}

function typeAtOnce(field: HTMLTextAreaElement | null): void {
  if (!field || document.activeElement === field) return
  justMade.value = ''
  field.focus()
}

const nameOf = (color: string | undefined): string =>
  color === undefined ? 'ink' : (COLORS.find(([code]) => code === color)?.[1] ?? color)

function levelsOf(text: string): readonly number[] | null {
  const levels = text
    .trim()
    .split(/[\s;]+/)
    .map((part) => Number(part.replace(',', '.')))
  const good = levels.every((level) => Number.isFinite(level) && Math.abs(level) <= 100)
  return good && levels.length <= 40 ? levels : null
}

/** Sets the style of the selection, and of the tools' next drawings. `inInk` takes their own colour off them. */
export function restyle(change: DrawingStyle, { inInk = false } = {}): void {
  const chosen = selection.peek()
  const restyled = ({ color, ...style }: DrawingStyle, news: DrawingStyle): DrawingStyle => ({
    ...style,
    ...(color !== undefined && !inInk && { color }),
    ...news,
  })
  changeDrawings(chosen.map((one) => ({ ...one, style: restyled(one.style, change) })))
  const { text: _text, ...lasting } = change
  if (Object.keys(lasting).length === 0 && !inInk) return
  const next = { ...styles.peek() }
  for (const { tool } of chosen) next[tool] = restyled(next[tool] ?? {}, lasting)
  styles.value = next
}

const choices = <T,>(
  options: readonly (readonly [value: T, text: string])[],
  now: T | undefined,
  restyled: (value: T) => DrawingStyle,
): readonly MenuItem[] =>
  options.map(([value, text]) => item(text, '', () => restyle(restyled(value)), { checked: value === now }))

const colorItems = (now: string | undefined): readonly MenuItem[] => [
  item('Ink, as the theme has it', '', () => restyle({}, { inInk: true }), { checked: now === undefined }),
  ...choices<string>(COLORS, now, (color) => ({ color })),
]

/** All actions on the selection, for the bar's menu and a right click. */
export function selectionItems(): readonly MenuItem[] {
  const chosen = selection.peek()
  const first = chosen[0]
  if (!first) return []
  const style = styleOf(first)
  const { interval } = market.peek()
  const watched = chosen.length === 1 ? watchables(first, watchedChart()) : []
  const grouped = chosen.some(({ group }) => group)
  const regroup = () => {
    const group = grouped ? null : newDrawingId()
    every((one) => ({ ...one, group }))
  }
  const here = first.intervals?.length === 1 && first.intervals[0] === interval
  return [
    ...watched.map((one) => item(one.text, 'bell', () => askDrawingAlert(first, one))),
    item('Styles…', 'tune', () => openDialog(<StyleTemplates onUse={restyle} />)),
    item('Clone', 'copy', () => clone(chosen)),
    ...(chosen.some(({ tool }) => HAS_FILL.has(tool))
      ? [item(style.fill ? 'Without fill' : 'Filled', '', () => restyle({ fill: !style.fill }))]
      : []),
    item(here ? 'Show on every interval' : `Show on ${intervalText(interval)} only`, '', () =>
      every((one) => ({ ...one, intervals: here ? null : [interval] })),
    ),
    item(first.locked ? 'Unlock' : 'Lock', '', () => every((one) => ({ ...one, locked: !first.locked }))),
    item('Hide', 'eye', () => {
      every((one) => ({ ...one, hidden: true }))
      selected.value = []
      toast('Hidden. The list of drawings shows it again.')
    }),
    item('To the front', '', () => reorder('front')),
    item('To the back', '', () => reorder('back')),
    ...(chosen.length > 1 || grouped ? [item(grouped ? 'Ungroup' : 'Group', '', regroup)] : []),
    item('Points and list…', 'list', openObjectList),
    item('Remove', 'trash', removeSelected, { hint: 'Del' }),
  ]
}

const watchedChart = (): WatchedChart => ({
  bars: shown.peek()?.bars ?? NO_BARS,
  barMs: barMsOf(market.peek().interval),
  mintick: mintick.peek(),
})

function every(change: (drawing: Drawing) => Drawing): void {
  changeDrawings(selection.peek().map(change))
}

function clone(chosen: readonly Drawing[]): void {
  const copies = chosen.map((one) => ({
    ...one,
    id: newDrawingId(),
    points: one.points.map(({ time, price }) => ({ time, price: price * 1.01 })),
  }))
  changeDrawings(copies)
  selected.value = copies.map(({ id }) => id)
}

/**
 * Drawings have no number for their depth: those that should be in front are removed and put again behind all others in the
 * list.
 */
function reorder(where: 'front' | 'back'): void {
  const ids = new Set(selected.peek())
  const chosen = drawings.peek().filter(({ id }) => ids.has(id))
  const moved = where === 'front' ? chosen : drawings.peek().filter(({ id }) => !ids.has(id))
  const again = moved.map((one) => ({ ...one, id: newDrawingId() }))
  changeDrawings(
    again,
    moved.map(({ id }) => id),
  )
  if (where === 'front') selected.value = again.map(({ id }) => id)
}
