// Buttons side by side that choose the scale of equity curves.

import type { Signal } from '@preact/signals'
import { Segments } from '../ui/segments.tsx'
import { CURVE_SCALES, scaleOf } from './curve-scales.ts'
import s from './report.module.css'

export const ScaleChoice = ({ scale }: { scale: Signal<string> }) => (
  <Segments
    class={s.views}
    label="Scale of the curves"
    options={CURVE_SCALES}
    value={scaleOf(scale.value)}
    onChange={(id) => (scale.value = id)}
  />
)
