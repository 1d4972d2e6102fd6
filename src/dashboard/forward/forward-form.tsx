// The form that follows a strategy from now on, on paper, a closed bar at a time.

import { call } from '../api-client.ts'
import { Check } from '../frame/page.tsx'
import { AboutChips, useAbout } from '../research/about-chips.tsx'
import { settingsOf, type TabProps } from '../research/subject.ts'
import { href, navigate } from '../router.ts'
import { Form, useForm } from '../ui/form.tsx'
import { Empty } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import j from '../jobs/jobs.module.css'

const FIELDS = bodyFields('POST /api/platform/forward-runs')

export function ForwardForm({ subject }: TabProps) {
  const about = useAbout(subject)
  const form = useForm({
    wire: FIELDS,
    start: { provisional: false },
    async send({ provisional }) {
      const { source, exchange, symbol, interval } = about
      const { id } = await call('POST /api/platform/forward-runs', {
        body: { name: subject.name, exchange, symbol, interval, source, ...settingsOf(subject), provisional },
      })
      navigate(`/research/forward/${id}`)
    },
  })
  if (subject.kind !== 'strategy')
    return <Empty title="Nothing to follow">Only a strategy places orders. Choose one on the left.</Empty>
  return (
    <div class={j.job}>
      <AboutChips subject={subject} about={about} without={['bars']} />
      <p class={j.note}>
        A backtest says what a strategy would have done; this says what it does, from the next closed bar on.
        Its market has to be followed under <a href={href('/markets/sources')}>Markets, Sources</a>, or its
        bars to come in another way.
      </p>
      <Form of={form} class={j.form} action={form.busy ? 'Starting' : 'Follow from now on'} variant="primary">
        <Check checked={form.values.provisional} onChange={(on) => form.set('provisional', on)}>
          Also tell of orders on the bar that is not over: provisional, and confirmed or retracted later
        </Check>
      </Form>
    </div>
  )
}
