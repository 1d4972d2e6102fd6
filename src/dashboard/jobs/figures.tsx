// Figures of a run, each with what it is called, and what it is of or beside.

import type { ComponentChildren } from 'preact'
import { cx } from '../ui/ui.tsx'
import s from './jobs.module.css'

export type Figure = readonly [
  name: ComponentChildren,
  value: ComponentChildren,
  note?: ComponentChildren,
  tone?: string,
]

export const Figures = ({ of, class: more }: { of: readonly Figure[]; class?: string | undefined }) => (
  <dl class={cx(s.figures, more)}>
    {of.map(([name, value, note, tone], i) => (
      <div key={i}>
        <dt>{name}</dt>
        <dd>
          <span class={tone}>{value}</span>
          {note !== undefined && <small>{note}</small>}
        </dd>
      </div>
    ))}
  </dl>
)
