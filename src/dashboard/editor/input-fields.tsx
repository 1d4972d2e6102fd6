// A form made from a script's inputs, in its groups and rows: beside the editor, for a study, and in the form of an alert. A value
// that an input refuses stays in its field.

import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { OfferedPlot, Values } from '../studies/plot-sources.ts'
import { Icon } from '../ui/icon.tsx'
import { TypedInput } from '../ui/typed-input.tsx'
import { Choice, uiStyles } from '../ui/ui.tsx'
import s from './editor.module.css'
import {
  groupsOf,
  isChanged,
  readNumber,
  SOURCES,
  toDateTime,
  toHex,
  type ScriptInput,
} from './input-model.ts'
import { Flag, NumberField } from './value-fields.tsx'

const TIMEFRAMES = ['', '1', '5', '15', '30', '60', '240', '1D', '1W', '1M']

interface InputFieldsProps {
  readonly list: readonly ScriptInput[]
  readonly values: Values
  /** Plots of other indicators that a source may read. */
  readonly plots?: readonly OfferedPlot[]
  readonly onChange: (change: (before: Values) => Values) => void
}

export function InputFields({ list, values, plots = [], onChange }: InputFieldsProps) {
  const set = (label: string, value: unknown) =>
    onChange(({ [label]: _before, ...others }) =>
      value === undefined ? others : { ...others, [label]: value },
    )
  return (
    <>
      {groupsOf(list).map(({ name, rows }) => (
        <fieldset key={name} class={s.group}>
          {name !== '' && <legend>{name}</legend>}
          {rows.map((row) => (
            <div key={row[0]?.label} class={s.inputRow} data-inline={row.length > 1}>
              {row.map((input) => (
                <InputField key={input.label} input={input} values={values} plots={plots} set={set} />
              ))}
            </div>
          ))}
        </fieldset>
      ))}
    </>
  )
}

interface InputFieldProps extends Pick<ControlProps, 'input' | 'plots'> {
  readonly values: Values
  readonly set: (label: string, value: unknown) => void
}

function InputField({ input, values, plots, set: setValue }: InputFieldProps) {
  const id = useId()
  const given = values[input.label]
  const value = given === undefined ? input.default : given
  const changed = isChanged(input, values)
  const set = (next: unknown) => setValue(input.label, next === input.default ? undefined : next)
  const label = (
    <label class={s.inputLabel} for={id} title={input.label}>
      {input.label}
      {changed && <span class={s.changed} title="Changed" />}
    </label>
  )
  const tip = input.tooltip !== '' && (
    <span class={s.tip} tabIndex={0} role="note" aria-label={input.tooltip} data-tip={input.tooltip}>
      <Icon name="help" size={13} />
    </span>
  )
  if (input.kind === 'bool')
    return (
      <Flag id={id} value={value === true} disabled={!input.active} set={set}>
        {label}
        {tip}
      </Flag>
    )
  return (
    <div class={s.input} data-kind={input.kind}>
      {label}
      <Control id={id} input={input} value={value} plots={plots} set={set} />
      {tip}
    </div>
  )
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

const plotText = (value: object): string =>
  `${'plot' in value ? String(value.plot) : 'A plot'} of another script`

interface ControlProps {
  readonly id: string
  readonly input: ScriptInput
  readonly value: unknown
  readonly plots: readonly OfferedPlot[]
  readonly set: (value: unknown) => void
}

/** The value is one to choose from as well, though it need not be listed. */
const withValue = (value: unknown, listed: readonly string[]): readonly string[] =>
  listed.includes(textOf(value)) ? listed : [textOf(value), ...listed]

function Control({ id, input, value, plots, set }: ControlProps): JSX.Element {
  const common = { id, disabled: !input.active }
  const typed = { ...common, class: uiStyles['input'], value: textOf(value) }
  if (input.options) {
    const isNumber = ['int', 'float', 'price'].includes(input.kind)
    return (
      <Choice
        {...common}
        value={textOf(value)}
        options={withValue(value, input.options.map(String)).map((one) => [one, one])}
        onChange={(text) => set(isNumber ? Number(text) : text)}
      />
    )
  }
  switch (input.kind) {
    case 'int':
    case 'float':
    case 'price':
      return (
        <NumberField
          {...common}
          shown={textOf(value)}
          value={value}
          read={(text) => readNumber(input, text)}
          set={set}
          min={input.minval ?? undefined}
          max={input.maxval ?? undefined}
          step={input.step ?? (input.kind === 'int' ? 1 : 'any')}
        />
      )
    case 'source': {
      const own = value === null || value === '' ? [['', 'Script’s own'] as const] : []
      const offered = plots.map((one) => [JSON.stringify(one.value), one.text] as const)
      const isPlot = typeof value === 'object' && value !== null
      const chosen = isPlot ? JSON.stringify(value) : textOf(value)
      // The plot has gone from the chart, its script has not run yet, or a stored run's value holds the script itself.
      const gone = isPlot && !offered.some(([option]) => option === chosen)
      return (
        <Choice
          {...common}
          value={chosen}
          onChange={(text) => set(text.startsWith('{') ? JSON.parse(text) : text)}
          options={[
            ...own,
            ...SOURCES.map((one) => [one, one] as const),
            ...offered,
            ...(gone ? [[chosen, plotText(value)] as const] : []),
          ]}
        />
      )
    }
    case 'timeframe':
      return (
        <Choice
          {...common}
          value={textOf(value)}
          onChange={set}
          options={withValue(value, TIMEFRAMES).map((one) => [one, one === '' ? 'Chart' : one])}
        />
      )
    case 'color':
      return <ColourControl {...common} value={value} set={set} />
    case 'time':
      return (
        <input
          {...typed}
          type="datetime-local"
          value={toDateTime(value)}
          title="UTC"
          onChange={(event) => {
            const time = Date.parse(`${event.currentTarget.value}Z`)
            if (Number.isFinite(time)) set(time)
          }}
        />
      )
    case 'text_area':
      return <textarea {...typed} rows={3} onInput={(event) => set(event.currentTarget.value)} />
    default:
      return (
        <TypedInput
          {...typed}
          type="text"
          placeholder={input.kind === 'session' ? '0930-1600:23456' : input.kind === 'symbol' ? 'SP:SPX' : ''}
          onTyped={set}
        />
      )
  }
}

interface ColourControlProps extends Pick<ControlProps, 'id' | 'value' | 'set'> {
  readonly disabled: boolean
}

function ColourControl({ id, value, set, disabled }: ColourControlProps) {
  const { rgb, alpha } = toHex(value)
  const write = (colour: string, opacity: number) =>
    set(`${colour}${opacity.toString(16).padStart(2, '0')}`.toUpperCase())
  return (
    <span class={s.colour}>
      <input
        id={id}
        type="color"
        value={rgb}
        disabled={disabled}
        onInput={(event) => write(event.currentTarget.value, alpha)}
      />
      <input
        type="range"
        min={0}
        max={255}
        value={alpha}
        disabled={disabled}
        aria-label="Opacity"
        onChange={(event) => write(rgb, Number(event.currentTarget.value))}
      />
    </span>
  )
}
