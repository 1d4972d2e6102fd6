// The form of a strategy's properties, beside its inputs. They are kept with the script; a change runs it again.

import { useId, useState } from 'preact/hooks'
import { argsAsOf, changesBetween, KNOWN_FROM, NEWEST_DAY } from '../../language/behaviour.ts'
import { dayOptions } from '../as-of.ts'
import { Button, Choice } from '../ui/ui.tsx'
import { inputs, script, setInputs, type Overrides } from '../workspace.ts'
import s from './editor.module.css'
import {
  changedCount,
  declaredValue,
  PROPERTIES,
  readProperty,
  withoutProperties,
  withProperty,
  type Declaration,
  type Property,
} from './properties-model.ts'
import { Flag, NumberField } from './value-fields.tsx'
import { scriptId } from '../charts.ts'
import { cellOf } from '../chart/chart-state.ts'
import { plotsFor } from '../studies/studies.ts'
import { checked } from './documents.ts'
import { InputFields } from './input-fields.tsx'
import { Segments } from '../ui/segments.tsx'
import { isChanged, type ScriptInput } from './input-model.ts'

interface PanelProps {
  readonly declaration: Declaration
  /** The arguments that the script itself names. */
  readonly given: readonly string[]
  readonly version: number
}

export function PropertiesPanel({ declaration: today, given, version }: PanelProps) {
  const { overrides = {}, asOf } = script.value
  const declaration = argsAsOf({ kind: 'strategy', args: today, given }, version, asOf ?? NEWEST_DAY)
  const changed = changedCount(script.value)
  const put = (next: Overrides) => (script.value = { ...script.peek(), overrides: next })
  const valueOf = (name: string) => overrides[name] ?? declaredValue(name, declaration, version)
  const groups = [...new Set(PROPERTIES.map(({ group }) => group))]
  return (
    <>
      {changed > 0 && (
        <Button size="small" onClick={() => (script.value = withoutProperties(script.peek()))}>
          Back to the script’s own ({changed} changed)
        </Button>
      )}
      <DayField
        asOf={asOf}
        isOpen={changesBetween({ kind: 'strategy', given }, version, KNOWN_FROM, NEWEST_DAY).length > 0}
      />
      {groups.map((group) => (
        <fieldset key={group} class={s.group}>
          <legend>{group}</legend>
          {PROPERTIES.filter((one) => one.group === group).map((one) => {
            const declared = declaredValue(one.name, declaration, version)
            return (
              <div key={one.name} class={s.inputRow}>
                <PropertyField
                  property={one}
                  commissionType={String(valueOf('commission_type'))}
                  value={valueOf(one.name)}
                  changed={one.name in overrides}
                  set={(value) => put(withProperty(script.peek().overrides ?? {}, one.name, value, declared))}
                />
              </div>
            )
          })}
        </fieldset>
      ))}
    </>
  )
}

/** Which TradingView it is, where that makes a difference: `isOpen`, the script leaves something to it. */
function DayField({ asOf, isOpen }: { readonly asOf: string | undefined; readonly isOpen: boolean }) {
  const id = useId()
  if (asOf === undefined && !isOpen) return null
  const set = (day: string) => {
    const { asOf: _before, ...rest } = script.peek()
    script.value = day === '' ? rest : { ...rest, asOf: day }
  }
  return (
    <div class={s.inputRow}>
      <div class={s.input}>
        <label
          class={s.inputLabel}
          for={id}
          title="TradingView changes its defaults at times: the script runs with those of that day"
        >
          TradingView as of
          {asOf !== undefined && <span class={s.changed} title="Another day than today" />}
        </label>
        <Choice id={id} value={asOf ?? ''} onChange={set} options={dayOptions(asOf ?? '')} />
      </div>
    </div>
  )
}

interface FieldProps {
  readonly property: Property
  readonly commissionType: string
  readonly value: number | string | boolean
  readonly changed: boolean
  readonly set: (value: number | string | boolean) => void
}

function PropertyField({ property, commissionType, value, changed, set }: FieldProps) {
  const id = useId()
  const label = (
    <label class={s.inputLabel} for={id} title={property.hint ?? property.label}>
      {property.label}
      {changed && <span class={s.changed} title="Differs from the script" />}
    </label>
  )
  if (property.kind === 'flag')
    return (
      <Flag id={id} value={value === true} set={set}>
        {label}
      </Flag>
    )
  return (
    <div class={s.input}>
      {label}
      {property.kind === 'choice' ? (
        <Choice
          id={id}
          value={String(value)}
          onChange={set}
          options={
            property.options.some(([option]) => option === value)
              ? property.options
              : [[String(value), String(value)], ...property.options]
          }
        />
      ) : (
        <NumberField
          id={id}
          shown={String(value)}
          value={value}
          read={(text) => readProperty(property, text, commissionType)}
          set={set}
          min={property.min}
          step={property.whole ? 1 : 'any'}
        />
      )}
    </div>
  )
}

/** Beside the editor: the inputs of its script, of which a change runs it again (run-script.ts sees to that), and its properties. */
export function InputsPanel({ list }: { readonly list: readonly ScriptInput[] }) {
  const { declaration = null, pineVersion = null, given = [] } = checked.value ?? {}
  const [chosen, setChosen] = useState<'inputs' | 'properties'>('inputs')
  const tab = declaration === null ? 'inputs' : list.length === 0 ? 'properties' : chosen
  const changed = list.filter((one) => isChanged(one, inputs.value))
  return (
    <div class={s.inputs}>
      <div class={s.inputsHead}>
        {declaration === null || list.length === 0 ? (
          <h2>{tab === 'inputs' ? 'Inputs' : 'Properties'}</h2>
        ) : (
          <Segments
            label="Settings of the script"
            value={tab}
            options={{ inputs: 'Inputs', properties: 'Properties' }}
            onChange={setChosen}
          />
        )}
        {tab === 'inputs' && changed.length > 0 && (
          <Button size="small" variant="quiet" onClick={() => setInputs({})}>
            Reset {changed.length === 1 ? 'one' : `all ${changed.length}`}
          </Button>
        )}
      </div>
      {tab === 'properties' && declaration !== null ? (
        <PropertiesPanel declaration={declaration} given={given} version={pineVersion ?? 6} />
      ) : (
        <InputFields
          list={list}
          values={inputs.value}
          plots={plotsFor(cellOf(scriptId.value), '')}
          // Read at the time of the call, since two fields may change in one event.
          onChange={(change) => setInputs(change(inputs.peek()))}
        />
      )}
    </div>
  )
}
