// The settings of the script beside the editor: its inputs, of which a change runs it again (run-script.ts sees to that), and its
// properties.

import { useState } from 'preact/hooks'
import { Button } from '../ui/ui.tsx'
import { scriptId } from '../charts.ts'
import { cellOf } from '../chart/chart-state.ts'
import { plotsFor } from '../studies/studies.ts'
import { inputs } from '../workspace.ts'
import { checked } from './documents.ts'
import { InputFields } from './input-fields.tsx'
import { PropertiesPanel } from './properties-panel.tsx'
import { Segments } from '../frame/page.tsx'
import s from './editor.module.css'
import { isChanged, type ScriptInput } from './input-model.ts'

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
            options={[
              ['inputs', 'Inputs'],
              ['properties', 'Properties'],
            ]}
            onChange={setChosen}
          />
        )}
        {tab === 'inputs' && changed.length > 0 && (
          <Button size="small" variant="quiet" onClick={() => (inputs.value = {})}>
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
          onChange={(change) => (inputs.value = change(inputs.value))}
        />
      )}
    </div>
  )
}
