// Makes a step of the timeline out of every change of what the charts show: indicators, types, scales, symbols, the grid.
//
// Which chart is active is no step: a user who undoes an indicator wants to stay on the chart they are looking at.

import { effect } from '@preact/signals'
import type { Charts, Writable } from '../charts.ts'
import type { Undo, Step } from './undo.ts'

/** Changes of one thing that follow each other this closely are one step, as while a colour is being chosen. */
const TOGETHER_MS = 800

interface Watched {
  readonly charts: Writable<Charts>
  readonly timeline: Undo
  readonly now: () => number
  /** Name of the open layout. When another is opened, the steps end, since they belong to other charts. */
  readonly layout: () => string
  /** Called after a step was undone or redone. */
  readonly onPut: () => void
}

/** Watches until the returned function is called. */
export function keepSteps({ charts, timeline, now, layout, onPut }: Watched): () => void {
  let seen = charts.peek()
  let text = textOf(seen)
  let opened = layout()
  let isPutting = false
  let latest: { readonly step: Step; readonly what: string; after: Charts; at: number } | null = null

  const put = (wanted: Charts) => {
    const { active, script } = charts.peek()
    const has = (id: string) => wanted.all.some((one) => one.id === id)
    isPutting = true
    charts.value = {
      ...wanted,
      active: has(active) ? active : wanted.active,
      script: has(script) ? script : wanted.script,
    }
    isPutting = false
    onPut()
  }

  return effect(() => {
    const after = charts.value
    const before = seen
    const nowText = textOf(after)
    const nowOpen = layout()
    const isOther = opened !== nowOpen
    seen = after
    opened = nowOpen
    if (nowText === text) return
    text = nowText
    if (isPutting) return
    if (isOther) return timeline.clear()
    const what = whatChanged(before, after)
    if (latest && latest.step === timeline.last && latest.what === what && now() - latest.at < TOGETHER_MS) {
      latest.after = after
      latest.at = now()
      return
    }
    const made = { after }
    const step: Step = { undo: () => put(before), redo: () => put(made.after) }
    latest = Object.assign(made, { step, what, at: now() })
    timeline.add(step)
  })
}

const textOf = ({ shape, links, all }: Charts): string => JSON.stringify([shape, links, all])

/** The chart and the field in which the two differ; '' = more than one. */
function whatChanged(before: Charts, after: Charts): string {
  if (before.shape !== after.shape || before.all.length !== after.all.length) return ''
  const found = after.all.flatMap((one, i) => {
    const known = new Map(Object.entries(before.all[i] ?? {}))
    const changed = Object.entries(one).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(known.get(field)),
    )
    return changed.map(([field]) => `${one.id} ${field}`)
  })
  return found.length === 1 ? found[0]! : ''
}
