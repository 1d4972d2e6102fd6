// The verdict: a sentence that a trader understands, the best trial beside the most robust one, and the figures and
// pictures behind it. Each picture has its numbers as a table below it.

import type { ComponentChildren } from 'preact'
import { count, percent, ratio, gain } from '../format.ts'
import { cx } from '../ui/ui.tsx'
import type { Sweep, SweepTrial, Verdict } from '../../wire/sweep.ts'
import { inWords } from './figure-words.ts'
import { nameOf, scoreText, shownChoice } from './sweep-model.ts'
import j from '../jobs/jobs.module.css'
import s from './sweeps.module.css'
import { VerdictFigures } from './verdict-figures.tsx'
import { chosenOf, robustOf } from './verdict-rows.ts'
import { WalkForward } from './walk-forward.tsx'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'
import { Section } from '../frame/section.tsx'
import { Numbers } from '../ui/data-table.tsx'

export interface VerdictProps {
  readonly sweep: Sweep
  readonly verdict: Verdict
  readonly trials: readonly SweepTrial[]
  readonly open: (trial: number) => void
}

export function VerdictView(props: VerdictProps) {
  const { sweep, verdict, trials, open } = props
  const robust = robustOf(verdict, trials)
  return (
    <>
      <p class={j.sentence}>{verdict.sentence}</p>
      <div class={s.chosen}>
        {chosenOf(verdict, robust).map(([title, trial]) => (
          <Chosen key={title} {...props} title={title} number={trial} />
        ))}
        {verdict.best && robust === null && verdict.trials > 1 && (
          <Section class={s.card} title="Most robust: none">
            <p>No trial makes money among neighbours one step away that mostly make some, too.</p>
          </Section>
        )}
      </div>
      <VerdictFigures verdict={verdict} />
      <div class={s.pictures}>
        {verdict.overfitting && <Degradation found={verdict.overfitting} />}
        {verdict.overfitting && <Logits found={verdict.overfitting} />}
      </div>
      {verdict.walkForward && <WalkForward id={sweep.id} found={verdict.walkForward} open={open} />}
    </>
  )
}

interface ChosenProps extends VerdictProps {
  readonly title: string
  readonly number: number
}

function Chosen({ sweep, verdict, trials, open, title, number }: ChosenProps) {
  const trial = trials.find((one) => one.trial === number)
  if (!trial) return null
  const heldOut = verdict.heldOut && verdict.heldOut.bars / sweep.range.bars
  const share = (part: number) => percent(part, { places: 0 })
  const profit = (of: SweepTrial['outside']) => gain(of?.['netProfitPct'])
  const wanted = [inWords(sweep.objective), scoreText(trial.score), true] as const
  const figures: readonly (readonly [name: string, value: string, isWanted?: boolean])[] = [
    ...sweep.space.map((varied, i) => [nameOf(varied), shownChoice(trial.choices[i]!)] as const),
    ...(sweep.objective === 'netProfit' ? [] : [wanted]),
    ['Net profit', profit(trial.figures)],
    ...(heldOut === null ? [] : [[`… of the last ${share(heldOut)}`, profit(trial.outside)] as const]),
  ]
  return (
    <Section class={s.card} title={title}>
      {heldOut !== null && <p class="muted">of the first {share(1 - heldOut)} of the bars</p>}
      <dl>
        {figures.map(([name, value, isWanted]) => (
          <div key={name}>
            <dt class={isWanted ? s.wanted : undefined}>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {buttons([item('Run on the chart', 'play', () => open(number))], 'small')}
    </Section>
  )
}

const [WIDTH, HEIGHT] = [320, 180]

interface PictureProps {
  readonly title: string
  readonly label: string
  /** What is across and what is up, below the picture. */
  readonly said: string
  readonly children: ComponentChildren
  /** The same as a table. */
  readonly heads: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

const Picture = ({ title, label, said, children, heads, rows }: PictureProps) => (
  <Section class={cx(j.picture, s.numbers)} title={title}>
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      {children}
    </svg>
    <p class={s.said}>{said}</p>
    <Numbers
      label={`Numbers of ${title}`}
      rows={rows}
      columns={({ own }) => heads.map((head, at) => own(head, head, 'number', (cells) => cells[at]))}
      fixed
    />
  </Section>
)

type OverfittingProps = { readonly found: NonNullable<Verdict['overfitting']> }

function Degradation({ found: { points, slope, intercept } }: OverfittingProps) {
  const xs = points.map(([x = 0]) => x)
  const ys = points.map(([, y = 0]) => y)
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)]
  const [y0, y1] = [Math.min(0, ...ys), Math.max(0, ...ys)]
  const px = (x: number) => 8 + ((WIDTH - 16) * (x - x0)) / (x1 - x0 || 1)
  const py = (y: number) => HEIGHT - 8 - ((HEIGHT - 16) * (y - y0)) / (y1 - y0 || 1)
  return (
    <Picture
      title="In sample against out of sample"
      said="Each point is the best of one half of the time: across its Sharpe ratio there, up that on the other half. Red ones lose."
      label={`Sharpe ratio of each split's best, out of sample over in sample. The line through them has the slope ${ratio(slope)}.`}
      heads={['In sample', 'Out of sample']}
      rows={points.map(([x, y]) => [ratio(x, 4), ratio(y, 4)])}
    >
      <line class={s.axis} x1={0} x2={WIDTH} y1={py(0)} y2={py(0)} />
      {points.map(([x = 0, y = 0], i) => (
        <circle key={i} class={y < 0 ? s.lossDot : s.dot} cx={px(x)} cy={py(y)} r={2} />
      ))}
      <line
        class={s.trend}
        x1={px(x0)}
        x2={px(x1)}
        y1={py(intercept + slope * x0)}
        y2={py(intercept + slope * x1)}
      />
    </Picture>
  )
}

function Logits({ found: { logits, probability } }: OverfittingProps) {
  const { counts, from, to } = logits
  const most = Math.max(...counts, 1)
  const width = WIDTH / counts.length
  const left = (i: number) => from + ((to - from) * i) / counts.length
  return (
    <Picture
      title="Rank out of sample (λ)"
      said="How many splits' best have which rank on the other half. Red, left of 0: below the middle."
      label={`How the best of one half ranks on the other: ${percent(probability)} of the splits are left of zero, below the middle.`}
      heads={['λ from', 'Splits']}
      rows={counts.map((splits, i) => [ratio(left(i)), count(splits)])}
    >
      {counts.map((splits, i) => {
        const height = ((HEIGHT - 8) * splits) / most
        const isBelow = left(i) + (to - from) / counts.length / 2 <= 0
        return (
          <rect
            key={i}
            class={isBelow ? s.lossDot : s.dot}
            x={i * width + 0.5}
            y={HEIGHT - height}
            width={width - 1}
            height={height}
          />
        )
      })}
      <line class={s.axis} x1={WIDTH / 2} x2={WIDTH / 2} y1={0} y2={HEIGHT} />
    </Picture>
  )
}
