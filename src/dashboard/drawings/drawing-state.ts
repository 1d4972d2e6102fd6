// State that the drawing tools share: the tool in hand, the selection, and settings that are remembered.

import { computed, signal } from '@preact/signals'
import type { Drawing, DrawingStyle, DrawingTool } from '../../wire/drawing.ts'
import { remembered } from '../settings.ts'
import { drawings } from './sheet.ts'

/** The tool in hand; null = the pointer. */
export const tool = signal<DrawingTool | null>(null)
/** The gestures of charts that take what is drawn on them: bars are painted, and the gestures listen. */
export const drawables = signal<ReadonlySet<object>>(new Set())
/** Whether the commands are there that take a tool in hand. */
export const hasCommands = signal(false)
export const drawable = computed(() => drawables.value.size > 0)
export function setDrawable(gestures: object, on: boolean): void {
  const now = drawables.peek()
  if (now.has(gestures) === on) return
  const others = [...now].filter((one) => one !== gestures)
  drawables.value = new Set(on ? [...others, gestures] : others)
}
/** Ids of the selected drawings. */
export const selected = signal<readonly string[]>([])
export const hovered = signal<string | null>(null)
/** The unfinished drawing, with the pointer as its last point. */
export const draft = signal<Drawing | null>(null)
/** The gestures of the chart that it is being drawn on. */
export const drafter = signal<object | null>(null)
/** Id of the drawing that was made last, so that its text can be typed at once. */
export const justMade = signal('')
/** Where a drawing's context menu opens, in CSS pixels of the page. */
export const drawingMenu = signal<{ readonly x: number; readonly y: number } | null>(null)

/** Whether new points snap to a nearby open, high, low or close. */
export const magnet = remembered('drawings.magnet', false)
/** Whether a tool stays in hand after a drawing is finished. */
export const keepTool = remembered('drawings.keep', false)
export const hideAll = remembered('drawings.hidden', false)
export const lockAll = remembered('drawings.locked', false)
/** The style of the next drawing of each tool. */
export const styles = remembered<Partial<Record<DrawingTool, DrawingStyle>>>('drawings.styles', {})
/** Styles that were kept under a name, for drawings of any tool. */
export interface StyleTemplate {
  readonly name: string
  readonly style: DrawingStyle
}
export const templates = remembered<readonly StyleTemplate[]>('drawings.templates', [])
/** The tool of each group that was used last. */
export const lastTools = remembered<Record<string, DrawingTool>>('drawings.tools', {})

export const selection = computed(() => {
  const ids = new Set(selected.value)
  return drawings.value.filter(({ id }) => ids.has(id))
})

/** Whether the drawing is shown at this interval. */
export const isShown = (drawing: Drawing, interval: string): boolean =>
  !drawing.hidden && (!drawing.intervals || drawing.intervals.includes(interval))

export const newDrawingId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => (byte % 36).toString(36)).join('')
