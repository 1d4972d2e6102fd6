// Undo and redo: a step can be undone, and redone until another step is taken. There is one timeline for all charts, so that
// what was done last is undone first, whether it was a drawing, an alert's line or an indicator.

import { computed, signal, type ReadonlySignal } from '@preact/signals'

export interface Step {
  readonly undo: () => void
  readonly redo: () => void
}

const KEPT = 200
const NONE: Readonly<Record<'done' | 'undone', readonly Step[]>> = { done: [], undone: [] }

export class Undo {
  readonly #steps = signal(NONE)
  readonly canUndo: ReadonlySignal<boolean> = computed(() => this.#steps.value.done.length > 0)
  readonly canRedo: ReadonlySignal<boolean> = computed(() => this.#steps.value.undone.length > 0)

  /** The step that would be undone next. */
  get last(): Step | undefined {
    return this.#steps.peek().done.at(-1)
  }

  /** Adds a step that has been done. */
  add(step: Step): void {
    this.#steps.value = { done: [...this.#steps.peek().done.slice(1 - KEPT), step], undone: [] }
  }

  undo(): void {
    const { done, undone } = this.#steps.peek()
    const step = done.at(-1)
    if (step) this.#steps.value = { done: done.slice(0, -1), undone: [...undone, step] }
    step?.undo()
  }

  redo(): void {
    const { done, undone } = this.#steps.peek()
    const step = undone.at(-1)
    if (step) this.#steps.value = { done: [...done, step], undone: undone.slice(0, -1) }
    step?.redo()
  }

  clear(): void {
    this.#steps.value = NONE
  }
}

export const timeline = new Undo()
