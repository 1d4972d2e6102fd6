// The size of an order without `qty`.
//
// F1: market orders are sized on the signal bar, from the equity marked at its close and that close with slippage.
// F2: priced orders freeze the budget when placed and divide it by the price they fill at.
// F3: the budget has to pay the commission too, so a unit costs price plus fee; a fee per order comes off the budget.

import { UNIT, floorToLot, tenDigits } from './numbers.ts'
import type { BrokerSettings } from './settings.ts'

/** The money that an order may spend; NaN if the default quantity is a fixed number of contracts. */
export function budgetOf(settings: BrokerSettings, equity: number): number {
  if (settings.defaultQtyType === 'fixed') return NaN
  const share = settings.defaultQtyValue
  const budget = settings.defaultQtyType === 'cash' ? share : (equity * share) / 100
  return budget - (settings.commissionType === 'cash_per_order' ? settings.commissionValue : 0)
}

/**
 * The units that a budget buys at a price (F5: the budget is rounded to ten digits, and the quotient is cut off, never
 * snapped).
 */
export function unitsFor(
  settings: BrokerSettings,
  budget: number,
  price: number,
  pointValue: number,
  rate: number,
  lot: number,
): number {
  const value = price * pointValue * rate
  const cost =
    settings.commissionType === 'percent'
      ? value * (1 + settings.commissionValue / 100)
      : settings.commissionType === 'cash_per_contract'
        ? value + settings.commissionValue
        : value
  if (!(budget > 0) || !(cost > 0)) return 0
  return floorToLot(Math.floor((tenDigits(budget) / cost) * UNIT), lot)
}
