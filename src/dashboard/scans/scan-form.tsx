// The form that requests a scan with the script in the editor: over which markets, and how many bars of each.

import { useEffect, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { titleOf } from '../editor/title-of.ts'
import { intervalText } from '../format.ts'
import { Page } from '../frame/page.tsx'
import { navigate } from '../router.ts'
import { Form, useForm } from '../ui/form.tsx'
import { Button, Empty, Field, Select } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { loadWatchlists, watchlists } from '../watchlists/lists.ts'
import { plainInputs } from '../run-script.ts'
import { market, script } from '../workspace.ts'
import j from '../jobs/jobs.module.css'

const SCAN_FIELDS = bodyFields('POST /api/platform/scans')

export function ScanForm() {
  const { source } = script.value
  return (
    <Page
      title="Scan"
      back={['/scans', 'Scans']}
      about="The script in the editor, run over many markets: last values of its plots, and which of its conditions hold now."
    >
      {source.trim() === '' ? (
        <Empty title="No script" action={<Button onClick={() => navigate('/')}>To the editor</Button>}>
          Open a script in the editor first. Its plots become columns, its alertcondition() and plotshape()
          calls what can hold.
        </Empty>
      ) : (
        <Fields />
      )}
    </Page>
  )
}

function Fields() {
  const [list, setList] = useState('')
  useEffect(() => void loadWatchlists(), [])
  const form = useForm({
    wire: SCAN_FIELDS,
    start: { interval: intervalText(market.peek().interval), bars: '500' },
    async send({ interval, bars }) {
      const { source, name } = script.peek()
      const { id } = await call('POST /api/platform/scans', {
        body: {
          name: name || titleOf(source) || 'Untitled',
          interval,
          bars: Number(bars),
          source,
          inputs: plainInputs(),
          ...(list !== '' && { watchlistId: list }),
        },
      })
      navigate(`/scans/${id}`)
    },
  })
  const lists = (watchlists.value ?? []).map(({ id, name }) => [id, name] as const)
  return (
    <Form of={form} class={j.form} action={form.busy ? 'Starting' : 'Scan'} variant="primary">
      <div class={j.fields}>
        <Select
          label="Markets"
          value={list}
          options={[['', 'Everything that has bars'], ...lists]}
          onChange={setList}
        />
        <Field label="Interval" {...form.field('interval')} />
        <Field
          label="Bars of each market"
          {...form.field('bars')}
          hint="As many as its slowest average needs"
        />
      </div>
    </Form>
  )
}
