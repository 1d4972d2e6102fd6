// Drawing with a pointer: placing points, grabbing a drawing, moving it. Buttons and lists are elsewhere.
//
// The chart's own gestures (pan, zoom) work wherever nothing is drawn. A press belongs to a drawing only if a tool is in
// hand or a drawing is under it, and then the chart does not see it.

import { batch, effect, signal } from '@preact/signals'
import type { Drawing, DrawingTool } from '../../wire/drawing.ts'
import { barMsOf } from '../chart/bars.ts'
import type { Cell } from '../chart/cell.ts'
import type { Paint } from '../chart/paint.ts'
import { NO_SKETCH, type Sketch } from '../chart/scene.ts'
import type { ChartView } from '../chart/view.ts'
import { price as priceText } from '../format.ts'
import { drawDrawing, hitAt, useTypeface, type DrawingHit } from './drawn.ts'
import {
  draft,
  drafter,
  drawingMenu,
  hideAll,
  hovered,
  isShown,
  justMade,
  keepTool,
  lockAll,
  magnet,
  newDrawingId,
  selected,
  setDrawable,
  styles,
  tool,
} from './drawing-state.ts'
import { settled, withPoint } from './kept-shapes.ts'
import { expanded, middlePlaces, rounded } from './placing.ts'
import { drawings, removeDrawings, sheetOf, type Sheet } from './sheet.ts'
import { surfaceOf, timeOfBar, barOfTime, type Anchor, type Spot, type Surface } from './surface.ts'
import { codeOf } from './tools.ts'

/** How far from a line a press still grabs it, in CSS pixels: a finger is wider than a mouse. */
const REACH = { mouse: 6, touch: 14 } as const
/** A press that moves less than this is a click. */
const CLICK_PX = 5
const MAGNET_PX = 24
const INK_PX = 3
const INK_POINTS = 2000

type Gesture =
  | { readonly kind: 'place'; readonly from: Spot }
  | { readonly kind: 'ink' }
  | {
      readonly kind: 'move'
      readonly hit: DrawingHit
      readonly from: Spot
      readonly before: readonly Drawing[]
    }

export class DrawingGestures {
  readonly #host: HTMLElement
  readonly #view: ChartView
  readonly #cell: Cell
  readonly #stops: (() => void)[] = []
  /** Drawings that are being moved, as they are now. */
  readonly #moved = signal<readonly Drawing[] | null>(null)
  #gesture: Gesture | null = null
  /** The current press belongs to a drawing. */
  #owns = false

  constructor(host: HTMLElement, view: ChartView, cell: Cell) {
    this.#host = host
    this.#view = view
    this.#cell = cell
    this.#stops.push(view.addOverlay((paint) => this.#draw(paint)))
    this.#listen('pointerdown', (event) => this.#down(event))
    this.#listen('pointermove', (event) => this.#move(event))
    this.#listen('pointerup', (event) => this.#up(event))
    this.#listen('pointercancel', () => this.#cancelGesture())
    this.#listen('dblclick', (event) => {
      if (this.#draft()) this.#stop(event)
      this.finish()
    })
    this.#listen('contextmenu', (event) => this.#menu(event))
    this.#listen('keydown', (event) => this.#key(event))
    // The chart listens to mouse and touch events, which follow those of the pointer. A press focuses the chart by itself,
    // and would take the focus from the field in which a text just placed is typed.
    for (const kind of ['mousedown', 'touchstart', 'touchmove'] as const)
      this.#listen(kind, (event) => {
        if (this.#owns) this.#stop(event)
      })
    this.#stops.push(
      effect(() => {
        cell.sketch.value = this.#sketch()
      }),
      effect(() => {
        host.style.cursor = tool.value === null ? '' : 'crosshair'
        if (tool.value === null) draft.value = null
      }),
    )
  }

  destroy(): void {
    setDrawable(this, false)
    for (const stop of this.#stops) stop()
    if (drafter.peek() === this) draft.value = null
    this.#cell.sketch.value = NO_SKETCH
  }

  /** The sheet of the symbol on this chart. */
  #sheet(): Sheet {
    return sheetOf(this.#cell.market.peek())
  }
  #drawings(): readonly Drawing[] {
    return this.#sheet().drawings.peek()
  }
  /** Those that are selected and not locked. */
  #free(): readonly Drawing[] {
    return this.#drawings().filter(
      ({ id, locked }) => selected.peek().includes(id) && !lockAll.peek() && locked !== true,
    )
  }

  /** What there is to draw: it depends on everything that is read here. */
  #sketch(): Sketch {
    const { value: at } = this.#cell.market
    const shown = sheetOf(at).drawings.value.filter((one) => !hideAll.value && isShown(one, at.interval))
    const moved = this.#moved.value
    return {
      drawings: moved ? shown.map((one) => moved.find(({ id }) => id === one.id) ?? one) : shown,
      marked: [...selected.value, ...(hovered.value === null ? [] : [hovered.value])],
      draft: drafter.value === this ? draft.value : null,
    }
  }

  /** What is being drawn on this chart. */
  #draft(): Drawing | null {
    return drafter.peek() === this ? draft.peek() : null
  }
  #setDraft(drawing: Drawing): void {
    drafter.value = this
    draft.value = drawing
  }

  /** Ends a polyline or a path at its last point. */
  finish(): void {
    const now = this.#draft()
    if (!now || codeOf(now.tool).points !== 0) return
    // The last point follows the pointer, and a double click has already placed one there.
    const points = dropTwins(now.points.slice(0, -1))
    const surface = this.#surface()
    if (surface && points.length >= 2) this.#commit(surface, { ...now, points })
    else this.cancel()
  }

  /** Drops the unfinished drawing, or else the tool, or else the selection. */
  cancel(): boolean {
    if (this.#draft()) draft.value = null
    else if (tool.peek()) tool.value = null
    else if (selected.peek().length > 0) selected.value = []
    else return false
    this.#letGo()
    return true
  }

  #letGo(): void {
    this.#gesture = null
    this.#moved.value = null
  }

  /** Places the tool in hand in the middle of the chart, for users without a pointer. */
  placeInMiddle(): void {
    const surface = this.#surface()
    const name = tool.peek()
    if (!surface || !name) return
    const points = middlePlaces(name, surface).map((place) => this.#anchor(surface, place))
    this.#commit(surface, this.#made(name, expanded(name, points, surface)))
  }

  /** Moves the selection by bars and ticks. */
  nudge(bars: number, ticks: number): void {
    const surface = this.#surface()
    if (!surface) return
    const { mintick } = this.#view.scene
    const free = this.#free()
    if (free.length > 0)
      this.#sheet().change(free.map((one) => shifted(one, surface, bars, (price) => price + ticks * mintick)))
  }

  #listen<K extends keyof HTMLElementEventMap>(
    kind: K,
    heard: (event: HTMLElementEventMap[K]) => void,
  ): void {
    this.#host.addEventListener(kind, heard, { capture: true, passive: false })
    this.#stops.push(() => this.#host.removeEventListener(kind, heard, { capture: true }))
  }

  #stop(event: Event): void {
    event.stopPropagation()
    event.preventDefault()
  }

  #surface(): Surface | null {
    const { painted: paint, scene } = this.#view
    if (!paint || scene.bars.length === 0) return null
    const { cut } = scene
    // In a replay nothing may be calculated from bars that are still to come.
    const bars = cut === null ? scene.bars : { ...scene.bars, length: Math.min(scene.bars.length, cut + 1) }
    return surfaceOf(paint, bars, barMsOf(scene.interval), (y) => this.#view.priceAt(y))
  }

  #draw(paint: Paint): void {
    const surface = this.#surface()
    setDrawable(this, surface !== null)
    if (!surface) return
    const { mintick, sketch } = this.#view.scene
    const formatPrice = (value: number) => priceText(value, mintick)
    useTypeface(paint)
    for (const drawing of sketch.drawings)
      drawDrawing(paint, surface, drawing, { marked: sketch.marked.includes(drawing.id), formatPrice })
    if (sketch.draft)
      drawDrawing(paint, surface, settled(surface, complete(sketch.draft)), { marked: true, formatPrice })
  }

  #placeOf(event: MouseEvent): Spot {
    const box = this.#host.getBoundingClientRect()
    return { x: event.clientX - box.left, y: event.clientY - box.top }
  }

  #hit(place: Spot, touch: boolean): DrawingHit | null {
    const surface = this.#surface()
    if (!surface || !isWithin(surface, place)) return null
    const { drawings: shown, marked } = this.#cell.sketch.peek()
    return hitAt(surface, shown, new Set(marked), place, touch ? REACH.touch : REACH.mouse)
  }

  /** The time and price of a place: on a bar, and with the magnet on its nearest price. */
  #anchor(surface: Surface, { x, y }: Spot, event?: PointerEvent): Anchor {
    const { bars } = surface
    const bar = Math.round(surface.barAt(x))
    let price = surface.priceAt(y)
    const sticks = magnet.peek() !== (event?.ctrlKey === true || event?.metaKey === true)
    if (sticks && bar >= 0 && bar < bars.length) {
      const prices = [bars.open[bar]!, bars.high[bar]!, bars.low[bar]!, bars.close[bar]!]
      const near = prices.toSorted((a, b) => Math.abs(surface.y(a) - y) - Math.abs(surface.y(b) - y))[0]!
      if (Math.abs(surface.y(near) - y) <= MAGNET_PX) price = near
    }
    return { time: timeOfBar(surface, bar), price: rounded(price) }
  }

  /** The same; while Shift is down, the point is level with the previous one, above or below it, or at 45 degrees. */
  #heldAnchor(surface: Surface, place: Spot, event: PointerEvent, before: Anchor | undefined): Anchor {
    if (!event.shiftKey || !before) return this.#anchor(surface, place, event)
    const from = { x: surface.x(before.time), y: surface.y(before.price) }
    const [dx, dy] = [place.x - from.x, place.y - from.y]
    const turn = Math.round(Math.atan2(dy, dx) / (Math.PI / 4)) * (Math.PI / 4)
    const far = Math.hypot(dx, dy)
    const level = Math.abs(Math.sin(turn)) < 1e-9
    const held = this.#anchor(surface, { x: from.x + far * Math.cos(turn), y: from.y + far * Math.sin(turn) })
    return level ? { ...held, price: before.price } : held
  }

  #made(name: DrawingTool, points: readonly Anchor[]): Drawing {
    const id = this.#draft()?.id ?? newDrawingId()
    return { id, tool: name, points, style: styles.peek()[name] ?? {} }
  }

  #down(event: PointerEvent): void {
    this.#owns = false
    if (event.button !== 0) return
    const surface = this.#surface()
    const place = this.#placeOf(event)
    if (!surface || !isWithin(surface, place)) return
    const name = tool.peek()
    if (name) return this.#beginDrawing(name, surface, place, event)
    const hit = this.#hit(place, event.pointerType === 'touch')
    if (!hit) {
      if (!event.shiftKey) selected.value = []
      return
    }
    this.#own(event)
    this.#select(hit.id, event.shiftKey)
    let before = this.#free()
    if (event.ctrlKey || event.metaKey) before = this.#cloned(before)
    if (before.length > 0) this.#gesture = { kind: 'move', hit, from: place, before }
  }

  /** The press belongs to us until the pointer is lifted. */
  #own(event: PointerEvent): void {
    this.#owns = true
    this.#host.setPointerCapture(event.pointerId)
    this.#host.focus({ preventScroll: true })
  }

  #select(id: string, more: boolean): void {
    const all = this.#drawings()
    const group = all.find((one) => one.id === id)?.group
    const ids = group ? all.flatMap((one) => (one.group === group ? one.id : [])) : [id]
    const now = selected.peek()
    if (more) selected.value = now.includes(id) ? now.filter((one) => !ids.includes(one)) : [...now, ...ids]
    else if (!now.includes(id)) selected.value = ids
  }

  /** Copies replace what was pressed, and the gesture moves the copies. */
  #cloned(originals: readonly Drawing[]): readonly Drawing[] {
    const copies = originals.map((one) => ({ ...one, id: newDrawingId(), group: null }))
    this.#sheet().change(copies)
    selected.value = copies.map(({ id }) => id)
    return copies
  }

  #beginDrawing(name: DrawingTool, surface: Surface, place: Spot, event: PointerEvent): void {
    this.#own(event)
    if (codeOf(name).freehand) {
      this.#gesture = { kind: 'ink' }
      this.#setDraft(this.#made(name, [inkAt(surface, place)]))
      return
    }
    const before = this.#draft()?.points.slice(0, -1) ?? []
    const anchor = this.#heldAnchor(surface, place, event, before.at(-1))
    // A finger has no double click: a second press on the last point ends a path as well.
    if (codeOf(name).points === 0 && isOn(surface, place, before.at(-1), event)) return this.finish()
    this.#gesture = { kind: 'place', from: place }
    this.#placed(name, surface, [...before, anchor])
  }

  /** Shows the points so far with the pointer's behind them, or commits if that was the last point. */
  #placed(name: DrawingTool, surface: Surface, points: readonly Anchor[]): void {
    const code = codeOf(name)
    if (code.points > 0 && points.length >= code.points)
      this.#commit(surface, this.#made(name, expanded(name, points, surface)))
    else this.#setDraft(this.#made(name, [...points, points.at(-1)!]))
  }

  #commit(surface: Surface, drawing: Drawing): void {
    draft.value = null
    this.#gesture = null
    this.#sheet().change([settled(surface, drawing)])
    selected.value = [drawing.id]
    justMade.value = drawing.id
    if (!keepTool.peek()) tool.value = null
  }

  #move(event: PointerEvent): void {
    const surface = this.#surface()
    if (!surface) return
    const place = this.#placeOf(event)
    const now = this.#draft()
    if (this.#gesture?.kind === 'move') this.#drag(surface, place, event, this.#gesture)
    else if (this.#gesture?.kind === 'ink' && now) {
      const last = now.points.at(-1)!
      const far = Math.hypot(surface.x(last.time) - place.x, surface.y(last.price) - place.y)
      if (far >= INK_PX && now.points.length < INK_POINTS)
        this.#setDraft({ ...now, points: [...now.points, inkAt(surface, place)] })
    } else if (now) {
      const placed = now.points.slice(0, -1)
      this.#setDraft({ ...now, points: [...placed, this.#heldAnchor(surface, place, event, placed.at(-1))] })
    } else if (event.pointerType !== 'touch' && event.buttons === 0 && tool.peek() === null) {
      const hit = this.#hit(place, false)
      hovered.value = hit?.id ?? null
      this.#host.style.cursor = hit ? 'pointer' : ''
    }
  }

  #drag(surface: Surface, place: Spot, event: PointerEvent, gesture: Gesture & { kind: 'move' }): void {
    const { hit, from, before } = gesture
    if (this.#moved.peek() === null && Math.hypot(place.x - from.x, place.y - from.y) < 2) return
    // By whole bars, and up and down by pixels, so that a line keeps its look on a logarithmic scale.
    const bars = Math.round(surface.barAt(place.x) - surface.barAt(from.x))
    const down = place.y - from.y
    const priceOf = (price: number) => surface.priceAt(surface.y(price) + down)
    this.#moved.value = before.map((one) => {
      if (hit.point < 0) return shifted(one, surface, bars, priceOf)
      if (one.id !== hit.id) return one
      const anchor = this.#heldAnchor(surface, place, event, one.points[hit.point === 0 ? 1 : 0])
      return withPoint(surface, one, hit.point, anchor)
    })
  }

  #up(event: PointerEvent): void {
    const gesture = this.#gesture
    if (!gesture) return
    const now = this.#draft()
    if (gesture.kind === 'move') {
      batch(() => {
        const moved = this.#moved.peek()
        if (moved) this.#sheet().change(moved)
        this.#letGo()
      })
    } else if (gesture.kind === 'ink' && now) {
      const surface = this.#surface()
      if (surface && now.points.length >= 2) this.#commit(surface, now)
      else this.#cancelGesture()
    } else if (gesture.kind === 'place' && now) {
      const surface = this.#surface()
      const place = this.#placeOf(event)
      this.#gesture = null
      // A drag places two points: where it began and where it ended.
      const pulled = Math.hypot(place.x - gesture.from.x, place.y - gesture.from.y) > CLICK_PX
      if (surface && pulled && codeOf(now.tool).points !== 0)
        this.#placed(now.tool, surface, [
          ...now.points.slice(0, -1),
          this.#heldAnchor(surface, place, event, now.points.at(-2)),
        ])
    }
  }

  #cancelGesture(): void {
    this.#letGo()
    draft.value = null
  }

  #menu(event: MouseEvent): void {
    if (tool.peek()) {
      this.#stop(event)
      return void this.cancel()
    }
    const hit = this.#hit(this.#placeOf(event), false)
    if (!hit) return
    this.#stop(event)
    this.#select(hit.id, false)
    drawingMenu.value = { x: event.clientX, y: event.clientY }
  }

  #key(event: KeyboardEvent): void {
    if (event.altKey) return
    const some = selected.peek().length > 0
    const times = event.shiftKey ? 10 : 1
    const bars = { ArrowLeft: -times, ArrowRight: times }[event.key] ?? 0
    const ticks = { ArrowUp: times, ArrowDown: -times }[event.key] ?? 0
    if (event.key === 'Escape' && this.cancel()) return this.#stop(event)
    if (event.key === 'Enter' && this.#draft()) this.finish()
    else if (event.key === 'Enter' && tool.peek()) this.placeInMiddle()
    else if ((event.key === 'Delete' || event.key === 'Backspace') && some) removeSelected()
    else if ((bars || ticks) && some && !event.ctrlKey && !event.metaKey) this.nudge(bars, ticks)
    else return
    this.#stop(event)
  }
}

/** Removes the selected drawings that are not locked. */
export function removeSelected(): void {
  const ids = new Set(selected.peek())
  const gone = drawings.peek().filter((one) => ids.has(one.id) && !one.locked)
  if (gone.length === 0) return
  selected.value = []
  removeDrawings(gone)
}

const isWithin = ({ width, height }: Surface, { x, y }: Spot): boolean =>
  x >= 0 && y >= 0 && x <= width && y <= height

function isOn(surface: Surface, { x, y }: Spot, point: Anchor | undefined, event: PointerEvent): boolean {
  if (!point) return false
  const reach = event.pointerType === 'touch' ? REACH.touch : CLICK_PX
  return Math.hypot(surface.x(point.time) - x, surface.y(point.price) - y) <= reach
}

const inkAt = (surface: Surface, { x, y }: Spot): Anchor => ({
  time: timeOfBar(surface, surface.barAt(x)),
  price: rounded(surface.priceAt(y)),
})

/** The drawing some bars on, and at other prices. */
const shifted = (
  drawing: Drawing,
  surface: Surface,
  bars: number,
  priceOf: (before: number) => number,
): Drawing => ({
  ...drawing,
  points: drawing.points.map(({ time, price }) => ({
    time: timeOfBar(surface, barOfTime(surface, time) + bars),
    price: rounded(priceOf(price)),
  })),
})

/** Draws a draft as if the pointer had placed the missing points. */
function complete(drawing: Drawing): Drawing {
  const missing = codeOf(drawing.tool).points - drawing.points.length
  const last = drawing.points.at(-1)
  return missing > 0 && last
    ? { ...drawing, points: [...drawing.points, ...Array.from({ length: missing }, () => last)] }
    : drawing
}

function dropTwins(points: readonly Anchor[]): readonly Anchor[] {
  return points.filter((one, i) => {
    const before = points[i - 1]
    return !before || before.time !== one.time || before.price !== one.price
  })
}
