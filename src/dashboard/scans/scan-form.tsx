// The form that requests a scan with a script: over which markets, and how many bars of each.

import { useEffect, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { AboutChips, useAbout } from '../research/about-chips.tsx'
import { settingsOf, type TabProps } from '../research/subject.ts'
import { navigate } from '../router.ts'
import { Form, useForm } from '../ui/form.tsx'
import { Field, Select } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { loadWatchlists, watchlists } from '../watchlists/lists.ts'
import j from '../jobs/jobs.module.css'

const SCAN_FIELDS = bodyFields('POST /api/platform/scans')

export function ScanForm({ subject }: TabProps) {
  const about = useAbout(subject)
  const [list, setList] = useState('')
  useEffect(() => void loadWatchlists(), [])
  const form = useForm({
    wire: SCAN_FIELDS,
    start: { bars: '500' },
    async send({ bars }) {
      const { source, interval } = about
      const asked = { name: subject.name, interval, bars: Number(bars), source, ...settingsOf(subject) }
      const body = { ...asked, ...(list !== '' && { watchlistId: list }) }
      const { id } = await call('POST /api/platform/scans', { body })
      navigate(`/research/scans/${id}`)
    },
  })
  const lists = (watchlists.value ?? []).map(({ id, name }) => [id, name] as const)
  return (
    <div class={j.job}>
      <AboutChips subject={subject} about={about} without={['market', 'bars']} />
      <p class={j.note}>
        Run over many markets: the last values of its plots, and which of its conditions hold now.
      </p>
      <Form of={form} class={j.form} action={form.busy ? 'Starting' : 'Scan'} variant="primary">
        <div class={j.fields}>
          <Select
            label="Markets"
            value={list}
            options={[['', 'Everything that has bars'], ...lists]}
            onChange={setList}
          />
          <Field
            label="Bars of each market"
            {...form.field('bars')}
            hint="As many as its slowest average needs"
          />
        </div>
      </Form>
    </div>
  )
}
