// What links in messages do, once they were opened: the alert is paused, or its firing acknowledged.

import type { Tapped } from '../http/deps.ts'
import { alertNotFound, type Alert, type Firing } from '../notify/alerts/alert.ts'
import type { Alerts } from '../notify/alerts/alerts.ts'
import type { AlertLink as Link, AlertLinks } from '../notify/channels/alert-links.ts'
import type { AlertLink } from '../wire/link.ts'

export function createTapped(alerts: Alerts, links: AlertLinks): Tapped {
  async function shown(link: Link): Promise<AlertLink> {
    const [alert, firing] = [await alerts.find(link.alertId), await alerts.firing(link.firingId)]
    if (!alert || !firing) throw alertNotFound()
    const { name, symbol, exchange, interval, state } = alert
    const { message, firedAt } = firing
    const { action, until } = link
    const isDone = isOver(link, alert, firing)
    return { action, name, symbol, exchange, interval, message, firedAt, state, until, isDone }
  }
  return {
    show: async (token) => shown(await links.read(token)),
    async follow(token) {
      const link = await links.read(token)
      const alert = await alerts.find(link.alertId)
      if (!alert) throw alertNotFound()
      if (link.action === 'acknowledge') await alerts.acknowledge(alert.ownerId, link.firingId)
      else if (watches(alert)) await alerts.change(alert.ownerId, alert.id, { state: 'paused' })
      return shown(link)
    },
  }
}

const watches = ({ state }: Alert): boolean => state === 'active' || state === 'throttled'

const isOver = ({ action }: Link, alert: Alert, { acknowledgedAt }: Firing): boolean =>
  action === 'pause' ? !watches(alert) : acknowledgedAt !== undefined
