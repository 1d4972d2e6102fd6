// Buttons side by side that choose how a report is shown: its view, and the scale of equity curves.

import type { Signal } from '@preact/signals'
import { CURVE_SCALES, scaleOf } from './curve-scales.ts'
import s from './report.module.css'

interface ViewsProps<Id extends string> {
  readonly label: string
  readonly of: readonly (readonly [id: Id, text: string, title?: string])[]
  readonly shown: Id
  readonly onShow: (id: Id) => void
}

export const Views = <Id extends string>({ label, of, shown, onShow }: ViewsProps<Id>) => (
  <span class={s.views} role="group" aria-label={label}>
    {of.map(([id, text, title]) => (
      <button
        key={id}
        type="button"
        class={s.view}
        title={title}
        aria-pressed={shown === id}
        onClick={() => onShow(id)}
      >
        {text}
      </button>
    ))}
  </span>
)

export const ScaleChoice = ({ scale }: { scale: Signal<string> }) => (
  <Views
    label="Scale of the curves"
    of={CURVE_SCALES}
    shown={scaleOf(scale.value)}
    onShow={(id) => (scale.value = id)}
  />
)
