// The buttons that choose the scale of equity curves.

import type { Signal } from '@preact/signals'
import { CURVE_SCALES, scaleOf } from './curve-scales.ts'
import s from './report.module.css'

export function ScaleChoice({ scale }: { readonly scale: Signal<string> }) {
  return (
    <span class={s.views} role="group" aria-label="Scale of the curves">
      {CURVE_SCALES.map(([id, text, title]) => (
        <button
          key={id}
          type="button"
          class={s.view}
          title={title}
          aria-pressed={scaleOf(scale.value) === id}
          onClick={() => (scale.value = id)}
        >
          {text}
        </button>
      ))}
    </span>
  )
}
