// A line as small as a word: how something went, without an axis.

import s from './ui.module.css'

interface SparkProps {
  readonly values: readonly number[]
  /** Whether a dotted line stands where it began. */
  readonly baseline?: boolean
}

/** Nothing is drawn of fewer than two values. It says what a figure beside it says, and so nothing to a screen reader. */
export function Spark({ values, baseline = false }: SparkProps) {
  if (values.length < 2) return <span class={s.spark} />
  const start = values[0]!
  const low = Math.min(...values)
  const span = Math.max(...values) - low || 1
  const y = (value: number) => (22 - ((value - low) / span) * 20).toFixed(1)
  const points = values.map((value, i) => `${((i / (values.length - 1)) * 100).toFixed(1)},${y(value)}`)
  return (
    <svg class={s.spark} viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      {baseline && <line x1="0" x2="100" y1={y(start)} y2={y(start)} vector-effect="non-scaling-stroke" />}
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke={values.at(-1)! >= start ? 'var(--up)' : 'var(--down)'}
        stroke-width="1.3"
        vector-effect="non-scaling-stroke"
      />
    </svg>
  )
}
