// Commission is an order's, not a trade's: worked out once over the whole quantity, then split over what it closed
// and what it opened, by quantity (F10, F11).

import { contracts, tenDigits } from './numbers.ts'
import type { BrokerSettings } from './settings.ts'

/** `rate` converts symbol currency to account currency; cash fees are account currency already (I2). */
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
