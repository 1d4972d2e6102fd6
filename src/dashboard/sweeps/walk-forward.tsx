// A sweep's walk-forward: the matrix with what passes, and of the chosen cell the equity out of sample, stitched together
// window after window, with the trial that each window chose.

import { useState } from 'preact/hooks'
import { count, percent, time, gain } from '../format.ts'
import { Show, useAnswer } from '../frame/page.tsx'
import { DataTable, Numbers } from '../ui/data-table.tsx'
import { Icon } from '../ui/icon.tsx'
import { cx } from '../ui/ui.tsx'
import type { StitchedEquity, Verdict } from '../../wire/sweep.ts'
import j from '../jobs/jobs.module.css'
import s from './sweeps.module.css'
import { boundsOf, lineOf } from './sweep-model.ts'
import { TrialButton } from './trial-button.tsx'
import { buttons, downloadItem } from '../ui/buttons.tsx'
import { Section } from '../frame/section.tsx'

type Forward = NonNullable<Verdict['walkForward']>
type Cell = Forward['cells'][number]

interface WalkForwardProps {
  readonly id: string
  readonly found: Forward
  readonly open: (trial: number) => void
}

export function WalkForward({ id, found, open }: WalkForwardProps) {
  const { cells } = found
  const [chosen, setChosen] = useState(() => firstShown(cells))
  const loaded = useAnswer('GET /api/platform/sweeps/{id}/walk-forward', {
    path: { id },
    query: { cell: String(chosen) },
  })
  const cell = cells[chosen]
  if (!cell) return null
  return (
    <Section class={j.section} title={cells.length > 1 ? 'Walk-forward matrix' : 'Walk-forward'}>
      {cells.length > 1 && (
        <>
          <p class={j.note}>
            {found.passed} of {cells.length} pass. Efficiency, by share out of sample and number of windows.
            Choose a cell to see what it earned.
          </p>
          <Matrix cells={cells} chosen={chosen} choose={setChosen} />
        </>
      )}
      <Show of={loaded}>
        {({ stitched }) => (
          <>
            {stitched && stitched.time.length > 0 ? (
              <Equity id={id} cell={cell} place={chosen} stitched={stitched} />
            ) : (
              <p class="muted">The equity of this sweep was not kept. Run it again to see it.</p>
            )}
            <Windows cell={cell} capital={stitched?.capital} open={open} />
          </>
        )}
      </Show>
    </Section>
  )
}

/** The cell that keeps most, of those that pass if there are any. */
function firstShown(cells: readonly Cell[]): number {
  const kept = cells.map(({ passed, efficiency }) => (passed ? 1e9 : 0) + (efficiency ?? -1e6))
  return kept.indexOf(Math.max(...kept))
}

interface MatrixProps {
  readonly cells: readonly Cell[]
  readonly chosen: number
  readonly choose: (cell: number) => void
}

function Matrix({ cells, chosen, choose }: MatrixProps) {
  const shares = [...new Set(cells.map(({ share }) => share))]
  const runs = [...new Set(cells.map((cell) => cell.runs))]
  const buttonOf = (share: number, many: number) => {
    const place = cells.findIndex((one) => one.share === share && one.runs === many)
    const { efficiency, passed: passes } = cells[place] ?? {}
    return (
      <button
        type="button"
        class={cx(s.forwardCell, passes ? 'up' : 'down')}
        aria-pressed={place === chosen}
        onClick={() => choose(place)}
      >
        {percent(efficiency, { places: 0 })}
        {passes && <Icon name="check" size={12} />}
        <span class="visually-hidden">
          {`, ${percent(share, { places: 0 })} in ${many} windows ${passes ? 'passes' : 'fails'}`}
        </span>
      </button>
    )
  }
  return (
    <div class={s.scroll}>
      <DataTable
        label="Walk-forward matrix"
        rows={shares}
        fixed
        class={cx(s.heat, s.forward)}
        columns={({ own }) => [
          own('share', 'Out of sample ↓ windows →', 'head', (share) => percent(share, { places: 0 })),
          ...runs.map((many) => own(String(many), String(many), '', (share) => buttonOf(share, many))),
        ]}
      />
    </div>
  )
}

const [WIDTH, HEIGHT] = [720, 200]
const day = (at: number | undefined) => time(at, 'UTC', false)

interface EquityProps {
  readonly id: string
  readonly cell: Cell
  readonly place: number
  readonly stitched: StitchedEquity
}

/** In shares of the capital, as all of a sweep. */
function Equity({ id, cell, place, stitched }: EquityProps) {
  const { capital, netProfitPct, maxDrawdownPct, time: times, equity, window } = stitched
  const said = `${gain(netProfitPct)} of the capital, at most ${percent(maxDrawdownPct)} below a peak`
  const bounds = boundsOf(times, [capital, ...equity], { width: WIDTH, height: HEIGHT })
  const begins = times.flatMap((at, i) => (i > 0 && window[i] !== window[i - 1] ? [at] : []))
  const rows = times.map((at, i) => ({ at, i }))
  return (
    <div class={cx(j.picture, s.numbers)}>
      <h3 class={s.equityName}>
        Equity out of sample, {percent(cell.share, { places: 0 })} in {count(cell.runs)} windows
      </h3>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        class={s.equity}
        role="img"
        aria-label={`Equity out of sample, window after window: ${said}.`}
      >
        {begins.map((at) => (
          <line key={at} class={s.faint} x1={bounds.x(at)} x2={bounds.x(at)} y1={0} y2={HEIGHT} />
        ))}
        <line class={s.axis} x1={0} x2={WIDTH} y1={bounds.y(capital)} y2={bounds.y(capital)} />
        <path class={s.trend} d={lineOf(times, equity, bounds)} />
      </svg>
      <p class={s.ends}>
        <span>{day(times[0])}</span>
        <span>{said}</span>
        <span>{day(times.at(-1))}</span>
      </p>
      <Numbers
        label="Equity out of sample"
        rows={rows}
        columns={({ own, numbers }) => [
          own('at', 'Bar', 'date', ({ at }) => time(at, 'UTC', true), { sort: ({ at }) => at }),
          numbers('equity', 'Of the capital', ({ i }) => equity[i]! / capital, percent),
          numbers('window', 'Window', ({ i }) => window[i]! + 1, count),
        ]}
      />
      {buttons(
        [downloadItem('Equity as CSV', `/api/platform/sweeps/${id}/walk-forward.csv`, { cell: place })],
        'small',
      )}
    </div>
  )
}

const RULES = [
  ['profit', 'a profit'],
  ['efficiency', 'half is kept'],
  ['runs', 'half of the windows earn'],
  ['spread', 'none earns more than half'],
  ['drawdown', 'none falls by 40%'],
] as const

type WindowsProps = Pick<WalkForwardProps, 'open'> & { cell: Cell; capital: number | undefined }

function Windows({ cell, capital = NaN, open }: WindowsProps) {
  const rows = cell.windows.map((window, i) => ({ ...window, i }))
  const trialCell = ({ trial }: (typeof rows)[number]) =>
    trial === null ? 'none' : <TrialButton trial={trial} open={open} />
  return (
    <>
      <ul class={s.rules}>
        {RULES.map(([rule, text]) => (
          <li key={rule} class={cell.passes[rule] ? 'up' : 'down'}>
            <Icon name={cell.passes[rule] ? 'check' : 'close'} size={12} /> {text}
            <span class="visually-hidden">{cell.passes[rule] ? ': yes' : ': no'}</span>
          </li>
        ))}
      </ul>
      <DataTable
        label="Windows"
        rows={rows}
        page={10}
        columns={({ own, numbers }) => [
          numbers('i', 'Window', ({ i }) => i + 1, count),
          own('trial', 'Trial', 'main', trialCell, { sort: ({ trial }) => trial }),
          numbers('inProfit', 'Profit in sample', ({ inProfit }) => inProfit / capital, gain),
          numbers('outProfit', 'Profit out of sample', ({ outProfit }) => outProfit / capital, gain),
          numbers('outDrawdownPct', 'Drawdown out of sample', (row) => row.outDrawdownPct, percent),
        ]}
      />
    </>
  )
}
