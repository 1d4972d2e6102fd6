// When a channel is silent, and how often it speaks at most: the part of its form, and in words.

import type { Channel } from '../../wire/channel.ts'
import type { FormOf } from '../ui/form.tsx'
import { Field } from '../ui/ui.tsx'

type Values = Readonly<Record<string, string>>

/** The texts of the form, named by where they are in the body, so that refusals find them. */
export const paceStart = (channel: Channel | null): Record<string, string> => ({
  'quiet/from': channel?.quiet?.from ?? '',
  'quiet/to': channel?.quiet?.to ?? '',
  'quiet/timezone': channel?.quiet?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  digestMinutes: channel?.digestMinutes ? String(channel.digestMinutes) : '',
})

/** What of it is sent. Throws what to say if only one end of the quiet hours is given. */
export function paceBody(values: Values): Pick<Channel, 'quiet' | 'digestMinutes'> {
  const [from = '', to = '', timezone = ''] = ['from', 'to', 'timezone'].map(
    (name) => values[`quiet/${name}`],
  )
  if ((from === '') !== (to === ''))
    throw new Error('Quiet hours need both ends; without them leave both empty.')
  return {
    quiet: from === '' ? null : { from, to, timezone: timezone.trim() },
    digestMinutes: Number(values['digestMinutes']) || 0,
  }
}

/** ` · quiet 22:00 to 07:00 · at most one in 10 min`; '' for a channel that speaks whenever there is something. */
export const paceText = ({ quiet, digestMinutes }: Channel): string =>
  [
    ...(quiet ? [` · quiet ${quiet.from} to ${quiet.to}`] : []),
    ...(digestMinutes > 0 ? [` · at most one in ${digestMinutes} min`] : []),
  ].join('')

/** Called, not rendered: a form knows the fields that are made while it is rendered itself. */
export const paceFields = (form: FormOf<Record<string, string>>, isOpen: boolean) => (
  <details open={isOpen}>
    <summary>Quiet hours and digest</summary>
    <Field label="Quiet from" {...form.field('quiet/from', { type: 'time' })} />
    <Field
      label="Quiet until"
      {...form.field('quiet/to', { type: 'time' })}
      hint="Alerts in these hours are held, and come as one message afterwards."
    />
    <Field label="Time zone" offered={Intl.supportedValuesOf('timeZone')} {...form.field('quiet/timezone')} />
    <Field
      label="At most one message in minutes"
      inputMode="numeric"
      placeholder="each alert at once"
      {...form.field('digestMinutes', { required: false })}
      hint="More alerts come together in the next one."
    />
  </details>
)
