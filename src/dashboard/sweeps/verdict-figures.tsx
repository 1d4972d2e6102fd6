// The figures of a verdict, each with a value to compare it with.

import { Figures } from '../jobs/figures.tsx'
import j from '../jobs/jobs.module.css'
import { href } from '../router.ts'
import { cx } from '../ui/ui.tsx'
import type { Verdict } from '../../wire/sweep.ts'
import { verdictRows } from './verdict-rows.ts'
import s from './sweeps.module.css'
import { Section } from '../frame/section.tsx'

export const VerdictFigures = ({ verdict }: { readonly verdict: Verdict }) => (
  <Section class={j.section} title="Is it more than luck?">
    <p class={cx(j.note, s.means)}>
      <a href={href('/help/sweep-verdict')}>What each of these means</a>
    </p>
    <Figures of={verdictRows(verdict)} class={s.wide} />
  </Section>
)
