// The form of what is known about a symbol.

import { SYMBOL_TYPES } from '../../lib/symbol-type.ts'
import { call } from '../api-client.ts'
import { pageStyles as p } from '../frame/page.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Field, Select, toast } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import type { SymbolFacts } from '../watchlists/quotes.ts'
import { FACTS } from './facts.ts'

const FACT_FIELDS = bodyFields('PUT /api/platform/symbols/{exchange}/{symbol}')

export function SymbolEditor({ facts }: { readonly facts: SymbolFacts }) {
  const start = {
    ...Object.fromEntries(FACTS.map(([name]) => [name, String(facts[name])])),
    type: facts.type,
  }
  const form = useForm<Record<string, string> & { type: SymbolFacts['type'] }>({
    wire: FACT_FIELDS,
    start,
    async send(values) {
      const changed = [...FACTS.map(([name]) => name), 'type' as const].filter(
        (name) => values[name] !== String(facts[name]),
      )
      const fields = changed.map((name) => [
        name,
        FACT_FIELDS[name].kind === 'number' ? Number(values[name]) : values[name],
      ])
      await call('PUT /api/platform/symbols/{exchange}/{symbol}', {
        path: { exchange: facts.exchange, symbol: facts.symbol },
        body: Object.fromEntries(fields) as Partial<SymbolFacts>,
      })
      toast('Saved. Runs from now on use it.', { tone: 'up' })
    },
  })
  return (
    <FormDialog of={form} title={`${facts.exchange}:${facts.symbol}`} action="Save" width={560}>
      <p class="muted">What backtests know about it. Sizes, fills and money depend on these.</p>
      <Select
        label="Type"
        value={form.values.type}
        options={SYMBOL_TYPES.map((one) => [one, one] as const)}
        onChange={(type) => form.set('type', type)}
      />
      <div class={p['row']} style={{ gridTemplateColumns: 'repeat(auto-fit, minmax(200px, 1fr))' }}>
        {FACTS.map(([name, label, hint]) => (
          <Field
            key={name}
            label={label}
            {...form.field(name, { required: FACT_FIELDS[name].min !== 0 })}
            {...(hint !== '' && { hint })}
          />
        ))}
      </div>
    </FormDialog>
  )
}
