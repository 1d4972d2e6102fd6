// Turns: which of the receivers with a delivery due is served next.
//
// There are few slots, and a receiver may hold one for 15 s. So users take turns (round robin), and one user holds at most
// half of the slots. The last quarter is for receivers whose last delivery succeeded, so that any number of receivers that
// never answer cannot hold up one that does.
//
// Only the first waiting delivery of each receiver is known here, however many wait behind it.

import { assert } from '../../lib/assert.ts'

export interface Head {
  readonly receiverId: string
  /** When the first of its deliveries is due. */
  readonly at: number
  /** Its last delivery succeeded, so this one will most likely be quick. */
  readonly proven: boolean
}
export interface Turn {
  readonly ownerId: string
  readonly receiverId: string
}

interface WaitingReceiver {
  at: number
  proven: boolean
  busy: boolean
}
interface Owner {
  readonly receivers: Map<string, WaitingReceiver>
  busy: number
}

export class Turns {
  readonly #slots: number
  // In order of turns: a served owner moves to the end.
  readonly #owners = new Map<string, Owner>()
  #busy = 0

  constructor(slots: number) {
    this.#slots = slots
  }

  /**
   * Replaces what is known of the owner's receivers. A receiver missing from `heads` has nothing waiting, unless it is
   * being served.
   */
  learn(ownerId: string, heads: readonly Head[]): void {
    const owner = this.#owners.get(ownerId) ?? { receivers: new Map<string, WaitingReceiver>(), busy: 0 }
    for (const { receiverId, at, proven } of heads) {
      const busy = owner.receivers.get(receiverId)?.busy ?? false
      owner.receivers.set(receiverId, { at, proven, busy })
    }
    const waiting = new Set(heads.map(({ receiverId }) => receiverId))
    for (const [receiverId, { busy }] of owner.receivers)
      if (!busy && !waiting.has(receiverId)) owner.receivers.delete(receiverId)
    if (owner.receivers.size === 0) this.#owners.delete(ownerId)
    else this.#owners.set(ownerId, owner)
  }

  /** Owners with deliveries that wait or are under way. */
  owners(): string[] {
    return [...this.#owners.keys()]
  }

  /** Takes a slot for the next receiver; null if none is due or allowed. `done` releases it. */
  take(now: number): Turn | null {
    for (const [ownerId, owner] of this.#owners) {
      if (this.#busy >= this.#slots) return null
      if (owner.busy >= this.#slots / 2) continue
      const receiverId = this.#firstDue(owner, now)
      const receiver = receiverId !== null && owner.receivers.get(receiverId)
      if (!receiver) continue
      receiver.busy = true
      owner.busy++
      this.#busy++
      this.#owners.delete(ownerId)
      this.#owners.set(ownerId, owner)
      return { ownerId, receiverId }
    }
    return null
  }

  done({ ownerId, receiverId }: Turn): void {
    const owner = this.#owners.get(ownerId)
    const receiver = owner?.receivers.get(receiverId)
    assert(owner !== undefined && receiver?.busy === true, 'a slot that is given back was taken')
    receiver.busy = false
    owner.busy--
    this.#busy--
  }

  /** When the next waiting receiver is due; null if none waits. */
  nextAt(now: number): number | null {
    let next = Number.POSITIVE_INFINITY
    for (const { receivers } of this.#owners.values())
      for (const { at, busy } of receivers.values()) if (!busy && at > now && at < next) next = at
    return Number.isFinite(next) ? next : null
  }

  /** Of the receivers that may have a slot, the one that has been due for longest. */
  #firstDue({ receivers }: Owner, now: number): string | null {
    const forAll = this.#busy < this.#slots * 0.75
    let first: string | null = null
    let firstAt = Number.POSITIVE_INFINITY
    for (const [receiverId, { at, proven, busy }] of receivers) {
      if (busy || at > now || at >= firstAt) continue
      if (!forAll && !proven) continue
      first = receiverId
      firstAt = at
    }
    return first
  }
}
