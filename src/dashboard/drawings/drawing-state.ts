// What the drawing tools share: the tool in hand, what is selected, and settings that last.

import { computed, signal } from '@preact/signals'
import type { Drawing, DrawingStyle, DrawingTool } from '../../wire/drawing.ts'
import { remembered } from '../settings.ts'
import { drawings } from './sheet.ts'

/** The tool in hand; null = the pointer. */
export const tool = signal<DrawingTool | null>(null)
/** Ids of the drawings that are selected. */
export const selected = signal<readonly string[]>([])
export const hovered = signal<string | null>(null)
/** What is being drawn, with the pointer as its last point. */
export const draft = signal<Drawing | null>(null)
/** Id of the drawing that was made last: a text is typed at once. */
export const justMade = signal('')
/** Where the menu of a drawing opens, CSS pixels of the page. */
export const drawingMenu = signal<{ readonly x: number; readonly y: number } | null>(null)
export const objectList = signal(false)

/** New points stick to the open, high, low or close that is near. */
export const magnet = remembered('drawings.magnet', false)
/** A tool stays in hand after a drawing is done. */
export const keepTool = remembered('drawings.keep', false)
export const hideAll = remembered('drawings.hidden', false)
export const lockAll = remembered('drawings.locked', false)
/** What the next drawing of a tool looks like. */
export const styles = remembered<Partial<Record<DrawingTool, DrawingStyle>>>('drawings.styles', {})
/** The tool that each group of the bar had last. */
export const lastTools = remembered<Record<string, DrawingTool>>('drawings.tools', {})

export const selection = computed(() => {
  const ids = new Set(selected.value)
  return drawings.value.filter(({ id }) => ids.has(id))
})

/** Is it on the chart at this interval? */
export const isShown = (drawing: Drawing, interval: string): boolean =>
  !drawing.hidden && (!drawing.intervals || drawing.intervals.includes(interval))

export const newDrawingId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => (byte % 36).toString(36)).join('')
