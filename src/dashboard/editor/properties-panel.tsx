// The form of a strategy's properties, beside its inputs. They are kept with the script; a change runs it again.

import { useEffect, useId, useState } from 'preact/hooks'
import { Button, uiStyles } from '../ui/ui.tsx'
import { script, type Overrides } from '../workspace.ts'
import s from './editor.module.css'
import {
  declaredValue,
  PROPERTIES,
  readProperty,
  withProperty,
  type Declaration,
  type Property,
} from './properties-model.ts'

export function PropertiesPanel({
  declaration,
  version,
}: {
  readonly declaration: Declaration
  readonly version: number
}) {
  const overrides = script.value.overrides ?? {}
  const changed = Object.keys(overrides).length
  const put = (next: Overrides) => (script.value = { ...script.peek(), overrides: next })
  const groups = [...new Set(PROPERTIES.map(({ group }) => group))]
  return (
    <>
      {changed > 0 && (
        <Button size="small" onClick={() => put({})}>
          Back to the script’s own ({changed} changed)
        </Button>
      )}
      {groups.map((group) => (
        <fieldset key={group} class={s.group}>
          <legend>{group}</legend>
          {PROPERTIES.filter((one) => one.group === group).map((one) => {
            const declared = declaredValue(one.name, declaration, version)
            return (
              <div key={one.name} class={s.inputRow}>
                <PropertyField
                  property={one}
                  value={overrides[one.name] ?? declared}
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

interface FieldProps<P extends Property = Property> {
  readonly property: P
  readonly value: number | string | boolean
  readonly changed: boolean
  readonly set: (value: number | string | boolean) => void
}

function PropertyField({ property, value, changed, set }: FieldProps) {
  const id = useId()
  const label = (
    <label class={s.inputLabel} for={id} title={property.hint ?? property.label}>
      {property.label}
      {changed && <span class={s.changed} title="Differs from the script" />}
    </label>
  )
  if (property.kind === 'flag')
    return (
      <div class={s.input} data-kind="bool">
        <input
          id={id}
          type="checkbox"
          checked={value === true}
          onChange={(event) => set(event.currentTarget.checked)}
        />
        {label}
      </div>
    )
  return (
    <div class={s.input}>
      {label}
      {property.kind === 'choice' ? (
        <select
          id={id}
          class={uiStyles['input']}
          value={String(value)}
          onChange={(event) => set(event.currentTarget.value)}
        >
          {(property.options.some(([option]) => option === value)
            ? property.options
            : [[String(value), String(value)] as const, ...property.options]
          ).map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      ) : (
        <NumberField id={id} property={property} value={value} set={set} />
      )}
    </div>
  )
}

/** Keeps the typed text until it is a number that the property takes. */
function NumberField({
  id,
  property,
  value,
  set,
}: Omit<FieldProps<Property & { readonly kind: 'number' }>, 'changed'> & { readonly id: string }) {
  const [text, setText] = useState(String(value))
  useEffect(() => {
    if (readProperty(property, text) !== value) setText(String(value))
  }, [value])
  const read = readProperty(property, text)
  const wrong = typeof read === 'string'
  return (
    <>
      <input
        id={id}
        class={uiStyles['input']}
        type="number"
        value={text}
        min={property.min}
        step={property.whole ? 1 : 'any'}
        aria-invalid={wrong}
        aria-describedby={wrong ? `${id}-wrong` : undefined}
        onInput={(event) => {
          const typed = event.currentTarget.value
          setText(typed)
          const next = readProperty(property, typed)
          if (typeof next === 'number') set(next)
        }}
      />
      {wrong && (
        <span id={`${id}-wrong`} class={s.inputWrong}>
          {read}
        </span>
      )}
    </>
  )
}
