// What is kept of a bridge, which sends the orders of one forward run or one alert to one receiver, and of those orders.

import type { Collection } from '../../store/collection.ts'
import { collectionIn } from '../../store/collection.ts'
import { byOwner } from '../../store/owned.ts'
import type { Bridge as BridgeWire, BridgeOrder as BridgeOrderWire } from '../../wire/bridge.ts'
import type { Kv } from '../../store/kv.ts'
import { PARCEL_INDEXES, type Destination, type Parcel } from '../webhooks/parcels.ts'

export const BRIDGES_PER_USER = 20

/** An order at the market that the strategy has placed and that has not filled there. */
export interface PlacedOrder {
  readonly orderId: string
  readonly side: 'buy' | 'sell'
  readonly qty: number
}

type Shown = Omit<
  BridgeWire,
  'id' | 'difference' | 'status' | 'disabledReason' | 'lastSuccessAt' | 'failingSince'
>

export interface Bridge extends Destination, Shown {
  readonly disabledReason: BridgeWire['disabledReason']
  /** The address and the secret, as JSON in a sealed box. */
  readonly sealed: string
  /** The owner of the private series that its source is on; '' = a shared one. */
  readonly seriesOwner: string
  /** What the strategy holds, without what it has placed at the market. */
  readonly position: number
  readonly placed: readonly PlacedOrder[]
  /** The position that the orders so far lead to if all of them are taken. */
  readonly goal: number
  /** What the receiver holds if every order whose answer is unknown was taken. */
  readonly assumed: number
  /** The difference that its owner was told of last. */
  readonly told: number
}

export interface BridgeOrder
  extends Parcel, Omit<BridgeOrderWire, 'id' | 'bridgeId' | 'state' | 'attempts' | 'nextAt' | 'createdAt'> {
  /** The position that the bridge had before it, and is to have after it. */
  readonly from: number
  readonly goal: number
  readonly price: number | null
  readonly close: number | null
  readonly comment: string
  readonly alertMessage: string
  /** From when on it is late, as long after as its bridge says. */
  readonly since: number
  /** What is sent, but for the secret; null before the first attempt. */
  readonly body: string | null
}

export const isOfAlert = ({ sourceId }: Pick<Bridge, 'sourceId'>): boolean => sourceId.startsWith('al_')

export const bridges: (kv: Kv) => Collection<Bridge> = collectionIn<Bridge>('bridges', {
  indexes: {
    ...byOwner<Bridge>(BRIDGES_PER_USER, 'bridges').indexes,
    source: ({ ownerId, sourceId }) => [ownerId, sourceId],
  },
  counts: byOwner<Bridge>(BRIDGES_PER_USER, 'bridges').counts,
})

export const bridgeOrders: (kv: Kv) => Collection<BridgeOrder> = collectionIn<BridgeOrder>('bridge-orders', {
  indexes: {
    ...PARCEL_INDEXES,
    owner: ({ ownerId }) => [ownerId],
    /** Those that wait, in the order in which they are sent. */
    queue: ({ receiverId, state }) => (state === 'pending' ? [receiverId] : null),
  },
})
