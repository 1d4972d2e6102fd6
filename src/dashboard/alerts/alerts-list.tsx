// Alerts and firings as rows, shared by the page and the drawer.

import { useEffect } from 'preact/hooks'
import type { Alert, Firing } from '../../wire/alert.ts'
import { call } from '../api-client.ts'
import { marketText, nameOf } from '../format.ts'
import { onLive } from '../live.ts'
import { Ago } from '../ui/ago.tsx'
import { item, Menu } from '../ui/menu.tsx'
import { Badge, Said, Empty } from '../ui/ui.tsx'
import { barText, conditionText, destinationsText, isOn, nameText, toldText } from './alert-model.ts'
import { attempt, useLoad, useReloadWhile, usePages, pageStyles as p, Listed } from '../frame/page.tsx'
import { showOnChart } from '../frame/show-on-chart.ts'
import { timezone } from '../settings.ts'
import { alertAt } from '../workspace.ts'
import { alertsChanged } from './on-charts.ts'
import { followOf, lookAtFeeds, lookForSilence, sendsMail, silenceOf } from './silence.ts'
import s from './alerts.module.css'
import { keysShown } from '../commands.ts'
import { buttons, deletion } from '../ui/buttons.tsx'

const FEEDS_AGAIN_MS = 10_000
const STATE_TONES = {
  active: 'up',
  triggered: 'accent',
  paused: undefined,
  expired: undefined,
  throttled: 'warn',
  error: 'down',
} as const

export function useAlerts() {
  const keys = [alertsChanged.value]
  useEffect(() => {
    // Alerts are shown without it as well. A firing tells by itself that bars came.
    lookForSilence().catch(() => undefined)
  }, keys)
  const alerts = useLoad(async (signal) => (await call('GET /api/platform/alerts', { signal })).alerts, keys)
  useReloadWhile(alerts.data?.some(isOn) === true, { reload: lookAtFeeds }, FEEDS_AGAIN_MS)
  const firings = usePages('firings', (asked) => call('GET /api/platform/alerts/firings', asked), keys)
  useEffect(() => {
    const again = () => [alerts, firings].forEach(({ reload }) => reload())
    return onLive('firing', again, again)
  }, [])
  return { alerts, firings }
}

const changed = () => alertsChanged.value++
const SEEN = 'I have seen it'

function AlertRow({ alert }: { readonly alert: Alert }) {
  const silence = silenceOf(alert)
  const follow = silence === null ? null : followOf(alert)
  const path = { id: alert.id }
  const turn = (state: 'active' | 'paused') =>
    attempt(call('PATCH /api/platform/alerts/{id}', { path, body: { state } }), changed)
  return (
    <li class={s.row} data-state={alert.state}>
      <div class={s.main}>
        <button type="button" class={s.name} onClick={() => (alertAt.value = { alert })}>
          {nameText(alert) || conditionText(alert)}
        </button>
        <span class={s.note}>
          {marketText(alert)}
          {alert.name && ` · ${conditionText(alert)}`}
          {` · ${destinationsText(alert, sendsMail())}`}
        </span>
        {alert.problem && <span class={`${s.note} down`}>{alert.problem}</span>}
        {silence !== null && (
          <span class={s.note}>
            <Said text={silence} />
          </span>
        )}
        {follow && <span>{buttons([item(`Follow ${alert.symbol}`, '', follow)], 'small')}</span>}
      </div>
      <div class={s.side}>
        {silence === null ? (
          <Badge tone={STATE_TONES[alert.state]}>{alert.state}</Badge>
        ) : (
          <Badge tone="warn">gets no bars</Badge>
        )}
        <span class={s.note}>
          {alert.lastFiredAt === null ? 'made' : 'fired'} <Ago at={alert.lastFiredAt ?? alert.createdAt} />
        </span>
      </div>
      <Menu
        label={`More for ${nameText(alert) || conditionText(alert)}`}
        size="small"
        items={[
          item('Show on the chart', 'candles', () => showOnChart(alert)),
          item('Change', 'tune', () => (alertAt.value = { alert })),
          isOn(alert)
            ? item('Pause', 'pause', () => turn('paused'))
            : item(alert.state === 'paused' ? 'Resume' : 'Arm again', 'play', () => turn('active')),
          '-',
          deletion({
            title: 'Delete the alert?',
            text: `${conditionText(alert)} on ${nameOf(alert)}. Its firings go with it.`,
            action: 'Delete alert',
            run: () => call('DELETE /api/platform/alerts/{id}', { path }).then(changed),
          }),
        ]}
      />
    </li>
  )
}

export const AlertRows = ({ of }: { readonly of: readonly Alert[] }) => (
  <ul class={s['list']} aria-label="Alerts">
    {of.map((alert) => (
      <AlertRow key={alert.id} alert={alert} />
    ))}
  </ul>
)

export function FiringRow({ firing }: { readonly firing: Firing }) {
  const path = { id: firing.id }
  const acknowledge = () =>
    attempt(call('POST /api/platform/alerts/firings/{id}/acknowledge', { path }), changed)
  return (
    <li>
      <button
        type="button"
        class={s.firing}
        onClick={() => showOnChart(firing, firing.barTime)}
        title="Show the bar on the chart"
      >
        <span class={s.main}>
          <strong>{firing.message}</strong>
          <span class={s.note}>
            {marketText(firing)}
            {barText(firing, timezone.value)}
            {toldText(firing.channels, sendsMail())}
          </span>
        </span>
        <span class={s.note}>
          <Ago at={firing.firedAt} />
        </span>
      </button>
      {firing.escalatesAt !== null &&
        (firing.acknowledgedAt === null ? (
          buttons([item(SEEN, 'check', acknowledge, { label: `${SEEN}: ${firing.message}` })], 'small')
        ) : (
          <span class={s.note}>
            seen <Ago at={firing.acknowledgedAt} />
          </span>
        ))}
    </li>
  )
}

/** A binding of its own: of a module that comes when it is asked for, Bun 1.4.5 exports a style sheet's without declaring it. */
export const alertStyles = s

/** The list beside the chart. */
export function AlertDrawer() {
  const { alerts, firings } = useAlerts()
  return (
    <div>
      <div class={p['drawerHead']}>
        <span />
        {buttons([item('New alert', 'plus', () => (alertAt.value = {}))], 'small')}
      </div>
      <Listed
        of={alerts}
        label="Alerts"
        class={s['beside']}
        empty={
          <Empty title="Nothing is being watched">
            Right-click a price on the chart, or press {keysShown('chart:alert') || 'the plus on the axis'}{' '}
            with the crosshair on it, and you will be told when it is reached.
          </Empty>
        }
      >
        {(alert) => <AlertRow key={alert.id} alert={alert} />}
      </Listed>
      {firings.data && firings.data.items.length > 0 && (
        <>
          <h2 class={s['heading']}>Fired</h2>
          <ul class={s['beside']} aria-label="Firings">
            {firings.data.items.slice(0, 30).map((firing) => (
              <FiringRow key={firing.id} firing={firing} />
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
