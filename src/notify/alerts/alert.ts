// The records of an alert: the condition that its owner set, its state, what the looks remember, and its firings.

import { askedDay } from '../../language/behaviour.ts'
import { Problem, invalidField } from '../../lib/problem.ts'
import { marketName } from '../../lib/market-name.ts'
import { requireInterval } from '../../market/interval.ts'
import { OPERATORS, type Alert as AlertWire, type AlertKind, type Operator } from '../../wire/alert.ts'
import { CHANNEL_OPERATORS, MOVE_OPERATORS, PERCENT_OPERATORS } from './condition.ts'

/** Kinds that run a stored script; `indicator` compares one of its plots, the others wait for its own calls. */
export const SCRIPT_KINDS: readonly AlertKind[] = ['indicator', 'script', 'strategy']

/** The default of `MAX_ALERTS`. */
export const ALERTS_PER_USER = 400

export interface Escalation {
  readonly channelId: string
  readonly minutes: number
}

/** What a user sets, as it is stored. */
interface Settings {
  readonly name: string
  readonly symbol: string
  readonly exchange: string
  /** In normal form: `1h`. */
  readonly interval: string
  readonly kind: AlertKind
  /** null if the script itself decides when it fires. */
  readonly op: Operator | null
  readonly price: number | null
  readonly price2: number | null
  readonly percent: number | null
  /** How many bars `moving_*` looks back. */
  readonly bars: number
  readonly scriptId: string | null
  readonly inputs: Readonly<Record<string, unknown>>
  /** The day of whose TradingView its script is; missing without one, and in alerts of before runs had a day. */
  readonly asOf?: string
  /** Title of the plot an `indicator` alert compares; '' = the first. */
  readonly plot: string
  readonly channels: AlertWire['channels']
  /** Empty = every receiver that listens to alert.triggered. */
  readonly webhookIds: readonly string[]
  /** Missing in old records. */
  readonly channelIds?: readonly string[]
  /** Whom to tell if nobody acknowledges a firing in time; missing in old records. */
  readonly escalation?: Escalation | null
  readonly frequency: AlertWire['frequency']
  readonly message: string
  readonly cooldownSec: number
  readonly expiresAt: number | null
}

export interface Alert extends Settings {
  readonly id: string
  readonly ownerId: string
  readonly state: AlertWire['state']
  /** Why, in state `error`. */
  readonly problem: string | null
  /** Owner of the private series that it watches; '' = a shared one. */
  readonly seriesOwner: string
  /**
   * The alert was not yet looked at together with the others of its series. An alert that is not fresh needs no memory of
   * its own, since it has seen what its series' mark says was seen.
   */
  readonly fresh: boolean
  /** For fresh alerts and those with a script: whether the condition held when it was last looked at. */
  readonly held: boolean
  /** For the same alerts: the time of the bar at which it was last looked at; null = never. Older bars never fire. */
  readonly seenBar: number | null
  /** Time of the last bar that fired, and the instant by which it was judged. */
  readonly firedBar: number | null
  readonly judgedAt: number | null
  /** Time of the first bar that its script sees; null = it has not run yet. */
  readonly since: number | null
  readonly firings: number
  readonly lastFiredAt: number | null
  /** The instants by which the last firings were judged, for throttling. */
  readonly recent: readonly number[]
  readonly createdAt: number
  readonly updatedAt: number
}

/** What its owner sees: everything but the owner's id and what the looks remember. */
export function withoutMemory(alert: Alert) {
  const {
    ownerId: _owner,
    seriesOwner: _series,
    fresh: _fresh,
    held: _held,
    seenBar: _seen,
    firedBar: _fired,
    judgedAt: _judged,
    since: _since,
    recent: _recent,
    ...shown
  } = alert
  return { ...shown, channelIds: shown.channelIds ?? [], escalation: shown.escalation ?? null }
}

export interface Firing {
  readonly id: string
  readonly alertId: string
  readonly ownerId: string
  readonly symbol: string
  readonly exchange: string
  readonly interval: string
  readonly barTime: number
  readonly price: number
  readonly message: string
  readonly firedAt: number
  readonly channels: AlertWire['channels']
  /** When another channel is told unless somebody acknowledges it; missing = never. */
  readonly escalatesAt?: number
  readonly acknowledgedAt?: number
}

/** With the plot that an `indicator` alert compared, and its value at the bar. */
export type ToldFiring = Firing & { readonly plot: string | null; readonly value: number | null }

/** The day that a changed or new alert gets; `before` null = it is new. Throws Problem 422. */
export function dayOf(
  before: Alert | null,
  { scriptId }: Pick<Alert, 'scriptId'>,
  asked: string | undefined,
  now: number,
): Pick<Settings, 'asOf'> {
  const keeps = scriptId === null || (asked === undefined && (before?.scriptId ?? null) !== null)
  return keeps ? {} : { asOf: askedDay(asked, now) }
}

type Needed = 'symbol' | 'exchange' | 'interval' | 'kind' | 'channels'

/** What a user may set; a field that is left out keeps its value or gets its default. */
export type AlertFields = Pick<Settings, Needed> & {
  readonly [Name in keyof Omit<Settings, Needed>]?: Settings[Name] | undefined
}

/** The fields as they are stored. Throws Problem 422 that names a wrong one. */
export function checkedFields(fields: AlertFields, now: number): Required<Omit<Settings, 'asOf'>> {
  const interval = requireInterval(fields.interval)
  const op = fields.op ?? null
  const usesScript = SCRIPT_KINDS.includes(fields.kind)
  if (usesScript && !fields.scriptId)
    throw invalidField(
      '/scriptId',
      'required',
      `An alert of kind ${fields.kind} needs the id of a stored script.`,
    )
  const needsOperator = !usesScript || fields.kind === 'indicator'
  if (needsOperator && op === null)
    throw invalidField('/op', 'required', `Choose an operator: ${OPERATORS.join(', ')}.`)
  const wanted = needsOperator ? op : null
  const price = fields.price ?? null
  const price2 = fields.price2 ?? null
  const percent = fields.percent ?? null
  if (wanted && PERCENT_OPERATORS.includes(wanted)) {
    if (percent === null || percent <= 0)
      throw invalidField('/percent', 'required', 'Say by how many per cent: a number above 0.')
  } else if (wanted && price === null) throw invalidField('/price', 'required', 'Say at which price.')
  if (wanted && CHANNEL_OPERATORS.includes(wanted) && price2 === null)
    throw invalidField('/price2', 'required', 'A channel has two bounds: price and price2.')
  if (fields.channels.length === 0 && !fields.channelIds?.length)
    throw invalidField(
      '/channels',
      'required',
      'Say how to be told: email, webhook or both, or name a channel in channelIds.',
    )
  const expiresAt = fields.expiresAt ?? null
  if (expiresAt !== null && expiresAt <= now)
    throw invalidField('/expiresAt', 'past', 'The alert would expire in the past.')
  return {
    name: fields.name ?? '',
    symbol: marketName(fields.symbol.trim()),
    exchange: marketName(fields.exchange.trim()),
    interval,
    kind: fields.kind,
    op: wanted,
    price,
    price2,
    percent,
    bars: wanted && MOVE_OPERATORS.includes(wanted) ? (fields.bars ?? 1) : 1,
    scriptId: usesScript ? (fields.scriptId ?? null) : null,
    inputs: fields.inputs ?? {},
    plot: fields.plot ?? '',
    channels: [...new Set(fields.channels)],
    webhookIds: [...new Set(fields.webhookIds)],
    channelIds: [...new Set(fields.channelIds)],
    escalation: fields.escalation ?? null,
    frequency: fields.frequency ?? 'once',
    message: fields.message ?? '',
    cooldownSec: fields.cooldownSec ?? 0,
    expiresAt,
  }
}

export function alertNotFound(): Problem {
  return new Problem(404, 'alert_not_found', 'There is no such alert.')
}
