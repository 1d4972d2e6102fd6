// A new way to be told is offered to the alerts that are on and only listed here.

import type { Alert } from '../../wire/alert.ts'
import { call } from '../api-client.ts'
import { attempt } from '../frame/page.tsx'
import { toast } from '../ui/ui.tsx'
import { destinationsText, isOn, LISTED } from './alert-model.ts'
import { alertsChanged } from './on-charts.ts'

/** `name`: of the phone, chat or webhook that is set up now. */
export async function offerToUntold(
  name: string,
  body: Partial<Pick<Alert, 'channels' | 'channelIds' | 'webhookIds'>>,
): Promise<void> {
  const [{ alerts }, { mailServer }] = await Promise.all([
    call('GET /api/platform/alerts'),
    call('GET /api/platform/alerts/outbox', { query: { limit: 1 } }),
  ])
  const untold = alerts.filter((one) => isOn(one) && destinationsText(one, mailServer) === LISTED)
  if (untold.length === 0) return
  const tell = ({ id }: (typeof untold)[number]) =>
    call('PATCH /api/platform/alerts/{id}', { path: { id }, body })
  const run = () => attempt(Promise.all(untold.map(tell)).finally(() => alertsChanged.value++))
  const many = untold.length === 1 ? 'One alert is' : `${untold.length} alerts are`
  toast(`${many} told to nobody.`, { action: { text: `Tell ${name}`, run } })
}
