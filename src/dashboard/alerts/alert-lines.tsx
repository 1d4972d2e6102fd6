// The levels of alerts as lines on a chart. A line is dragged to another price with a mouse or a finger, anywhere along it;
// its label is a number field for the keyboard, and has the menu with what else can be done.
//
// The chart paints lines and tags on its axis; labels are elements, put in their places with every frame it paints. A label
// that would lie over bars is a bell until somebody points at its line, so that it never hides a candle.

import { useSignalEffect } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { onTick, type Cell } from '../chart/cell.ts'
import { replayOnChart } from '../chart/chart-state.ts'
import { item, MenuList, type MenuItem } from '../ui/menu.tsx'
import { extremesOf } from '../chart/extremes.ts'
import type { Paint } from '../chart/paint.ts'
import { NO_BARS } from '../chart/scene.ts'
import { textWidth } from '../chart/text-width.ts'
import type { ChartView } from '../chart/view.ts'
import { hovered, tool } from '../drawings/drawing-state.ts'
import { price as priceText } from '../format.ts'
import { Icon } from '../ui/icon.tsx'
import { alertAt, side } from '../workspace.ts'
import s from './alert-lines.module.css'
import { nameText } from './alert-model.ts'
import {
  addAlertAt,
  atPrice,
  deleteAlert,
  followAlerts,
  linesOn,
  moveLine,
  type AlertLine,
} from './on-charts.ts'

/** How far from a line a press still takes hold of it, in CSS pixels: a finger is wider than a mouse. */
const REACH = { mouse: 5, touch: 14 } as const
const CLICK_PX = 4
/** The place of a label, as the style sheet has it: its distance to the axis, and half its height. */
const LABEL = { right: 26, half: 10 } as const

type Dragged = Pick<AlertLine, 'key' | 'price'>

interface LinesProps {
  readonly cell: Cell
  readonly view: ChartView
  readonly host: RefObject<HTMLDivElement | null>
}

interface OpenMenu {
  readonly line: AlertLine
  readonly x: number
  readonly y: number
}

export function AlertLines({ cell, view, host }: LinesProps) {
  const labels = useRef<HTMLDivElement>(null)
  const [dragged, setDragged] = useState<Dragged | null>(null)
  const [menu, setMenu] = useState<OpenMenu | null>(null)
  useEffect(followAlerts, [])
  // During a replay there are no lines: a level where somebody waited would give away what the replay hides.
  const lines = replayOnChart.value === null ? linesOn(cell.market.value).map(atHand(dragged)) : []
  const now = useRef(lines)
  now.current = lines

  useEffect(() => {
    cell.alerts.value = lines.map(({ price }) => ({ price, text: '', tone: 'accent' }))
  }, [JSON.stringify(lines.map(({ key, price }) => [key, price]))])
  useEffect(() => {
    const stop = view.addOverlay((paint) => {
      const { y, vr, height } = paint
      for (const label of (labels.current?.children as Iterable<HTMLElement> | undefined) ?? []) {
        const line = now.current.find(({ key }) => key === label.dataset['key'])
        const at = line ? y(line.price) / vr : Number.NaN
        const isIn = at >= 0 && at <= height / vr
        label.style.visibility = isIn ? 'visible' : 'hidden'
        if (!isIn) continue
        label.style.transform = `translateY(${Math.round(at)}px) translateY(-50%)`
        const width = textWidth(nameText(line!.alert), paint.theme.font)
        label.toggleAttribute('data-bell', hidesMuch(paint, cell, width, at))
      }
    })
    return () => {
      stop()
      cell.alerts.value = []
    }
  }, [view])
  useDragging({ cell, view, host, lines: now, onDragged: setDragged, onMenu: setMenu })

  const right = `calc(100% - ${cell.paneBoxes.value[0]?.width ?? 0}px)`
  return (
    <>
      <div ref={labels} class={s.labels} style={{ right }}>
        {lines.map((line) => (
          <Label
            key={line.key}
            line={line}
            cell={cell}
            active={dragged?.key === line.key}
            onDragged={setDragged}
            onMenu={setMenu}
          />
        ))}
      </div>
      <PlusButton cell={cell} view={view} right={right} />
      {menu && (
        <MenuList
          label={nameText(menu.line.alert)}
          items={itemsOf(menu.line)}
          x={menu.x}
          y={menu.y}
          onClose={() => setMenu(null)}
        />
      )}
    </>
  )
}

/** A chart narrower than this, in CSS pixels, has a legend across all of it. */
const NARROW = 420

/** Whether a label with a name of that width would hide bars, or the legend, where its line is at `at` CSS pixels from the top. */
function hidesMuch(paint: Paint, cell: Cell, name: number, at: number): boolean {
  const legend = cell.legends.peek()['price']
  const bars = cell.drawn.peek()?.bars ?? NO_BARS
  const { x, y, hr, vr, width, spacing } = paint
  if (width / hr < NARROW) return true
  const right = width - LABEL.right * hr
  const left = right - Math.min(280, name + LABEL_PADDING) * hr
  if (legend && at - LABEL.half < legend.bottom && left / hr < legend.right) return true
  const barAt = (place: number) => (place - x(0)) / spacing
  const last = Math.min(bars.length - 1, paint.known)
  const [from, to] = [Math.floor(barAt(left)), Math.min(last, Math.ceil(barAt(right)))]
  const { low } = extremesOf(bars.low, from, to)
  const { high } = extremesOf(bars.high, from, to)
  if (low > high) return false
  return y(high) / vr <= at + LABEL.half && y(low) / vr >= at - LABEL.half
}
/** What a label has beside its name: bell, gaps and border. */
const LABEL_PADDING = 30

const atHand = (dragged: Dragged | null) => (line: AlertLine) =>
  dragged?.key === line.key
    ? { ...line, price: dragged.price, alert: atPrice(line.alert, line.field, dragged.price) }
    : line

function itemsOf({ alert }: AlertLine): readonly MenuItem[] {
  return [
    item('Change…', 'tune', () => {
      side.value = 'alerts'
      alertAt.value = { alert }
    }),
    item('Delete the alert', 'trash', () => deleteAlert(alert)),
  ]
}

interface Acts {
  readonly onDragged: (to: Dragged | null) => void
  readonly onMenu: (menu: OpenMenu) => void
}

interface LabelProps extends Acts {
  readonly line: AlertLine
  readonly cell: Cell
  readonly active: boolean
}

function Label({ line, cell, active, onDragged, onMenu }: LabelProps) {
  const { key, price, alert } = line
  const title = nameText(alert)
  /** The price to which keys have moved the line, until they are let go of. */
  const stepped = useRef<number | null>(null)
  const commit = () => {
    const to = stepped.current
    stepped.current = null
    if (to === null) return
    moveLine(storedLine(cell, key) ?? line, to)
    onDragged(null)
  }
  const openMenu = (at: EventTarget | null) => {
    const { left, bottom } = (at as HTMLElement).getBoundingClientRect()
    onMenu({ line, x: left, y: bottom + 4 })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const by = { ArrowUp: 1, ArrowDown: -1, PageUp: 100, PageDown: -100 }[event.key]
    if (by !== undefined) {
      const step = by * (event.shiftKey ? 10 : 1) * cell.mintick.peek()
      stepped.current = onTick(cell, (stepped.current ?? price) + step)
      onDragged({ key, price: stepped.current })
    } else if (event.key === 'Escape' && stepped.current !== null) {
      stepped.current = null
      onDragged(null)
    } else if (event.key === 'Enter' || event.key === ' ') {
      commit()
      openMenu(event.currentTarget)
    } else if (event.key === 'Delete' || event.key === 'Backspace') deleteAlert(alert)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div class={s.label} data-key={key} data-active={active}>
      <span
        class={s.text}
        role="spinbutton"
        tabIndex={0}
        aria-label={`Alert: ${title}`}
        aria-valuenow={price}
        aria-valuetext={priceText(price, cell.mintick.value)}
        title="Drag the line, or use the arrow keys, to move the alert. Enter: more."
        onKeyDown={onKeyDown}
        onKeyUp={commit}
        onBlur={commit}
      >
        <Icon name="bell" size={12} />
        <span>{title}</span>
      </span>
      <button
        type="button"
        class={s.more}
        aria-haspopup="menu"
        aria-label={`More for the alert ${title}`}
        tabIndex={-1}
        onClick={(event) => openMenu(event.currentTarget)}
      >
        <Icon name="more" size={14} />
      </button>
    </div>
  )
}

/** The line as it is kept, without what is being dragged. */
const storedLine = (cell: Cell, key: string): AlertLine | undefined =>
  linesOn(cell.market.peek()).find((one) => one.key === key)

interface Dragging extends LinesProps, Acts {
  readonly lines: { readonly current: readonly AlertLine[] }
}

/** Presses near a line, and on its label, belong to the line: neither the chart nor the drawings see them. */
function useDragging({ cell, view, host, lines, onDragged, onMenu }: Dragging): void {
  useEffect(() => {
    const chart = host.current!
    const frame = chart.parentElement!
    let held: { key: string; from: number; at: number; moved: boolean } | null = null
    let isOurs = false

    const heightOf = (event: PointerEvent) => event.clientY - chart.getBoundingClientRect().top
    const lineAt = (event: PointerEvent): AlertLine | undefined => {
      const target = event.target as Element
      const labelled = target.closest<HTMLElement>('[data-key]')?.dataset['key']
      if (target.closest('button')) return undefined
      if (labelled !== undefined) return lines.current.find(({ key }) => key === labelled)
      const pane = cell.paneBoxes.peek()[0]
      const paint = view.painted
      const y = heightOf(event)
      const x = event.clientX - chart.getBoundingClientRect().left
      if (!chart.contains(target) || !pane || !paint || y > pane.height || x > pane.width) return undefined
      if (tool.peek() !== null || hovered.peek() !== null) return undefined
      const reach = event.pointerType === 'touch' ? REACH.touch : REACH.mouse
      const far = (line: AlertLine) => Math.abs(paint.y(line.price) / paint.vr - y)
      const nearest = lines.current.toSorted((a, b) => far(a) - far(b))[0]
      return nearest && far(nearest) <= reach ? nearest : undefined
    }
    const down = (event: PointerEvent) => {
      const line = event.button === 0 ? lineAt(event) : undefined
      isOurs = line !== undefined
      if (!line) return
      event.stopPropagation()
      held = { key: line.key, from: event.clientY, at: line.price, moved: false }
      frame.setPointerCapture(event.pointerId)
    }
    const move = (event: PointerEvent) => {
      if (!held) {
        const isFree = event.buttons === 0 && event.pointerType !== 'touch'
        const near = isFree ? lineAt(event)?.key : undefined
        frame.toggleAttribute('data-on-alert', near !== undefined)
        for (const label of frame.querySelectorAll<HTMLElement>(`.${s.label}`))
          label.toggleAttribute('data-near', label.dataset['key'] === near)
        return
      }
      event.stopPropagation()
      if (!held.moved && Math.abs(event.clientY - held.from) < CLICK_PX) return
      const price = view.priceAt(heightOf(event))
      if (price === null) return
      held.moved = true
      held.at = onTick(cell, price)
      onDragged({ key: held.key, price: held.at })
    }
    const up = (event: PointerEvent) => {
      if (!held) return
      const { key, at, moved } = held
      held = null
      event.stopPropagation()
      const line = storedLine(cell, key)
      if (moved && line) moveLine(line, at)
      else if (line && event.pointerType === 'touch') onMenu({ line, x: event.clientX, y: event.clientY + 8 })
      onDragged(null)
    }
    const cancel = () => {
      held = null
      onDragged(null)
    }
    const key = (event: KeyboardEvent) => {
      if (!held || event.key !== 'Escape') return
      event.stopPropagation()
      event.preventDefault()
      cancel()
    }
    // The chart listens to mouse and touch events, which follow those of the pointer.
    const follow = (event: Event) => {
      if (!isOurs || (event.target as Element).closest('button')) return
      event.stopPropagation()
      if (event.type !== 'mousedown') event.preventDefault()
    }
    const end = new AbortController()
    const options = { capture: true, passive: false, signal: end.signal }
    frame.addEventListener('pointerdown', down, options)
    frame.addEventListener('pointermove', move, options)
    frame.addEventListener('pointerup', up, options)
    frame.addEventListener('pointercancel', cancel, options)
    for (const kind of ['mousedown', 'touchstart', 'touchmove']) frame.addEventListener(kind, follow, options)
    window.addEventListener('keydown', key, options)
    return () => {
      end.abort()
      frame.removeAttribute('data-on-alert')
    }
  }, [view])
}

/** Follows the crosshair along the price axis: a press sets an alert there. */
function PlusButton({ cell, view, right }: { cell: Cell; view: ChartView; right: string }) {
  const button = useRef<HTMLButtonElement>(null)
  const height = useRef<number | null>(null)
  useSignalEffect(() => {
    const element = button.current
    const hover = cell.hover.value
    if (!element || element.matches(':hover')) return
    const isOn = hover !== null && hover.pane === 0 && replayOnChart.value === null && tool.value === null
    element.toggleAttribute('data-on', isOn)
    if (!isOn) return
    height.current = hover.y
    element.style.transform = `translateY(${Math.round(hover.y)}px) translateY(-50%)`
  })
  return (
    <button
      ref={button}
      type="button"
      class={s.plus}
      style={{ right }}
      tabIndex={-1}
      aria-label="Set an alert at this price"
      title="Set an alert at this price"
      onPointerLeave={(event) => event.currentTarget.removeAttribute('data-on')}
      onClick={() => {
        const price = height.current === null ? null : view.priceAt(height.current)
        if (price !== null) addAlertAt(cell.market.peek(), onTick(cell, price))
      }}
    >
      <Icon name="plus" size={12} />
    </button>
  )
}
