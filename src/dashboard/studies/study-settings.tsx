// The settings of a study: its inputs, the style of its plots, and the intervals it is shown on. Changes show on the chart
// at once.

import { intervalText } from '../format.ts'
import { useState } from 'preact/hooks'
import { activeCell, intervalsOf, symbol } from '../chart/chart-state.ts'
import { InputFields } from '../editor/input-fields.tsx'
import { openCopy, openScript } from '../editor/documents.ts'
import { attempt, Check, useAnswer } from '../frame/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Button, Choice, Empty, Failure, Select, Skeleton } from '../ui/ui.tsx'
import { bottom } from '../workspace.ts'
import { plotsOf, type PlotStyle, type StyledPlot } from './plot-styles.ts'
import s from './studies.module.css'
import { changeStudy, keepAsDefault, layers, moveStudy, plotsFor, settingsOf, studies } from './studies.ts'
import type { Study } from '../charts.ts'

type Tab = 'inputs' | 'style' | 'intervals'

export function StudySettings({ id }: { readonly id: string }) {
  const [tab, setTab] = useState<Tab>('inputs')
  const study = studies.value.find((one) => one.id === id)
  if (!study) return null
  return (
    <Dialog
      title={study.name}
      onClose={() => (settingsOf.value = '')}
      width={560}
      footer={
        <>
          <Button size="small" onClick={() => moveStudy(id, -1)}>
            Move up
          </Button>
          <Button size="small" onClick={() => moveStudy(id, 1)}>
            Move down
          </Button>
          <Button size="small" icon="code" onClick={() => edit(study)}>
            Open in the editor
          </Button>
          <Button
            size="small"
            title="The next one that is put on a chart begins like this one"
            onClick={() => keepAsDefault(study)}
          >
            Save as default
          </Button>
          <Button
            size="small"
            variant="danger"
            title="As the script says"
            onClick={() => changeStudy(id, { inputs: {}, plots: {}, intervals: null, pane: '' })}
          >
            Reset
          </Button>
        </>
      }
    >
      <Segments
        label="Settings"
        value={tab}
        options={{ inputs: 'Inputs', style: 'Style', intervals: 'Intervals' }}
        onChange={setTab}
      />
      {tab === 'inputs' && <Inputs study={study} />}
      {tab === 'style' && <Styles study={study} />}
      {tab === 'intervals' && <Intervals study={study} />}
    </Dialog>
  )
}

function edit({ from, name, source }: Study): void {
  settingsOf.value = ''
  bottom.value = 'script'
  const [kind, id = ''] = from.split(/:(.*)/)
  if (kind === 'script') attempt(openScript(id))
  else openCopy(name, source)
}

function Inputs({ study }: { readonly study: Study }) {
  const checked = useAnswer('POST /api/platform/scripts/check', { body: { source: study.source } })
  if (checked.error) return <Failure error={checked.error} />
  if (!checked.data) return <Skeleton height={120} />
  if (checked.data.inputs.length === 0) return <Empty title="It has no inputs" />
  return (
    <div class={s.inputs}>
      <InputFields
        list={checked.data.inputs}
        values={study.inputs}
        plots={plotsFor(activeCell.value, study.id)}
        onChange={(change) => {
          const now = studies.peek().find((one) => one.id === study.id)
          if (now) changeStudy(study.id, { inputs: change(now.inputs) })
        }}
      />
    </div>
  )
}

const WIDTHS = [1, 2, 3, 4]
const DASHES = [
  ['solid', 'Solid'],
  ['dashed', 'Dashed'],
  ['dotted', 'Dotted'],
] as const
const PLACES = [0, 1, 2, 3, 4, 5, 6, 7, 8]

function Styles({ study }: { readonly study: Study }) {
  const marks = layers.value.find((one) => one.study.id === study.id)?.marks
  const plots = marks ? plotsOf(marks) : []
  return (
    <>
      <Pane study={study} />
      {plots.length === 0 && <Empty title="It has no plots to style" />}
      <ul class={s.plots}>
        {plots.map((plot) => (
          <PlotRow
            key={plot.key}
            plot={plot}
            style={study.plots[plot.key] ?? {}}
            onChange={(change) => {
              const style = changed(study.plots[plot.key] ?? {}, change)
              changeStudy(study.id, { plots: { ...study.plots, [plot.key]: style } })
            }}
          />
        ))}
      </ul>
    </>
  )
}

/** What is undefined becomes as the script says. */
type StyleChange = { readonly [Field in keyof PlotStyle]: PlotStyle[Field] | undefined }
const changed = (style: PlotStyle, change: StyleChange): PlotStyle =>
  Object.fromEntries(Object.entries({ ...style, ...change }).filter(([, value]) => value !== undefined))

interface PlotProps {
  readonly plot: StyledPlot
  readonly style: PlotStyle
  readonly onChange: (change: StyleChange) => void
}

function PlotRow({ plot: { name, color, width, dash, price }, style, onChange }: PlotProps) {
  return (
    <li class={s.plot}>
      <Check checked={!style.hidden} onChange={(on) => onChange({ hidden: !on })}>
        {name}
      </Check>
      <input
        type="color"
        aria-label={`Colour of ${name}`}
        value={style.color ?? color}
        onChange={(event) => onChange({ color: event.currentTarget.value })}
      />
      <Choice
        class=""
        aria-label={`Width of ${name}`}
        value={String(style.width ?? width)}
        options={[...new Set([...WIDTHS, width])].map((one) => [String(one), `${one} px`])}
        onChange={(value) => onChange({ width: Number(value) })}
      />
      <Choice
        class=""
        aria-label={`Line of ${name}`}
        value={style.dash ?? dash}
        options={DASHES}
        onChange={(value) => onChange({ dash: DASHES.find(([one]) => one === value)![0] })}
      />
      {price === null ? (
        <Choice
          class=""
          aria-label={`Decimals of ${name}`}
          value={String(style.precision ?? '')}
          options={[['', 'Auto'], ...PLACES.map((places) => [String(places), (1).toFixed(places)] as const)]}
          onChange={(value) => onChange({ precision: value === '' ? undefined : Number(value) })}
        />
      ) : (
        <input
          type="number"
          step="any"
          aria-label={`Price of ${name}`}
          value={style.price ?? price}
          onChange={({ currentTarget: { valueAsNumber: at } }) =>
            onChange({ price: Number.isFinite(at) ? at : undefined })
          }
        />
      )}
    </li>
  )
}

/** Where the study is drawn. */
function Pane({ study }: { readonly study: Study }) {
  const others = studies.value.filter((one) => one.id !== study.id)
  return (
    <Select
      label="Pane"
      value={study.pane ?? ''}
      options={[
        ['', 'As the script says'],
        ['price', 'Over the price'],
        ['own', 'A pane of its own'],
        ...others.map((one) => [one.id, `With ${one.shortName}`] as const),
      ]}
      onChange={(pane) => changeStudy(study.id, { pane })}
    />
  )
}

function Intervals({ study }: { readonly study: Study }) {
  const known = intervalsOf(symbol.value)
  const chosen = study.intervals ?? known
  const set = (interval: string, on: boolean) => {
    const next = on ? [...chosen, interval] : chosen.filter((one) => one !== interval)
    changeStudy(study.id, { intervals: known.every((one) => next.includes(one)) ? null : next })
  }
  return (
    <div class={s.intervals}>
      {known.map((interval) => (
        <Check key={interval} checked={chosen.includes(interval)} onChange={(on) => set(interval, on)}>
          {intervalText(interval)}
        </Check>
      ))}
    </div>
  )
}
