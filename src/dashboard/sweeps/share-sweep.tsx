// Sharing a sweep as an idea: one of its trials as a published backtest, with the verdict of the sweep as its proof.

import { useRef, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { navigate } from '../router.ts'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Field, Select, toast } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import type { VerdictProps } from './verdict-view.tsx'
import { trialRun } from './sweep-model.ts'

const IDEA_FIELDS = bodyFields('POST /api/platform/ideas')

export function ShareSweep({ sweep, verdict, trials }: Omit<VerdictProps, 'open'>) {
  const [which, setWhich] = useState<'best' | 'robust'>(verdict.robust ? 'robust' : 'best')
  const [visibility, setVisibility] = useState<'unlisted' | 'public' | 'private'>('unlisted')
  /** The idea that an earlier try made before its snapshot failed. */
  const made = useRef('')
  const form = useForm({
    wire: IDEA_FIELDS,
    start: { title: sweep.name, body: verdict.sentence },
    async send({ title, body }) {
      const number = (which === 'robust' ? verdict.robust : verdict.best)?.trial
      const trial = trials.find((one) => one.trial === number)
      if (!trial) throw new Error('The trial is not there any more.')
      const { exchange, symbol, interval } = sweep
      const { id: backtestId } = await call('POST /api/platform/backtests', { body: trialRun(sweep, trial) })
      const idea = { title, body, visibility, exchange, symbol, interval, backtestId }
      const { id } =
        made.current === ''
          ? await call('POST /api/platform/ideas', { body: idea })
          : await call('PATCH /api/platform/ideas/{id}', { path: { id: made.current }, body: idea })
      made.current = id
      await call('PUT /api/platform/ideas/{id}/snapshot', { path: { id }, body: { sweepId: sweep.id } })
      toast('Shared with its proof', { tone: 'up' })
      navigate(`/ideas/${id}`)
    },
  })
  return (
    <FormDialog of={form} title="Share as an idea" action="Share" width={560}>
      <Field label="Title" autofocus {...form.field('title')} />
      <Field label="Text" rows={4} {...form.field('body')} />
      <Select
        label="Which trial"
        value={which}
        options={[
          ...(verdict.robust ? ([['robust', 'The most robust']] as const) : []),
          ...(verdict.best ? ([['best', 'The best']] as const) : []),
        ]}
        onChange={setWhich}
      />
      <Select
        label="Who sees it"
        value={visibility}
        options={[
          ['unlisted', 'Everybody who has the link'],
          ['public', 'Everybody'],
          ['private', 'Only me'],
        ]}
        onChange={setVisibility}
      />
      <p class="muted">
        Readers see the backtest of this trial with its chart and trades, how many choices were tried, and
        what is left of it when luck is taken away. They see neither the script nor its inputs.
      </p>
    </FormDialog>
  )
}
