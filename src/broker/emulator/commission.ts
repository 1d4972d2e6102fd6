// Commission belongs to an order, not to a trade: it is computed once over the whole quantity, then split by quantity over
// what the order closed and what it opened (F10, F11).

import { contracts, tenDigits } from './numbers.ts'
import type { BrokerSettings } from './settings.ts'

/** `rate` converts symbol currency to account currency; cash fees are already in account currency (I2). */
export function commissionOf(
  settings: BrokerSettings,
  units: number,
  price: number,
  pointValue: number,
  rate: number,
): number {
  const value = settings.commissionValue
  if (value === 0 || units === 0) return 0
  if (settings.commissionType === 'percent')
    return tenDigits(((contracts(units) * Math.abs(price) * pointValue * value) / 100) * rate)
  return settings.commissionType === 'cash_per_contract' ? contracts(units) * value : value
}
