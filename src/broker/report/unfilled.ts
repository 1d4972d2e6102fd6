// Why nothing was ever filled, where orders came: TradingView is silent of it, and people look for the mistake in their conditions.

import type { Bars } from '../../market/bars.ts'
import type { Report } from '../../wire/report.ts'
import type { BrokerEmulator } from '../emulator/broker.ts'
import { contracts } from '../emulator/numbers.ts'

export const ORDERS_NOT_FILLED = 'orders_not_filled'

export function unfilled(
  { account }: BrokerEmulator,
  bars: Bars,
  currency: string,
  symbol: string,
): Report['warnings'] {
  const { position, refused, lot, pointValue } = account
  const { tooSmall, unpaid } = refused
  if (position.fills.count > 0 || tooSmall + unpaid === 0) return []
  const orders = (count: number) => (count === 1 ? 'One order was' : `${count} orders were`)
  const worth = contracts(lot) * (bars.close[bars.length - 1] ?? 0) * pointValue * account.rate()
  const why =
    tooSmall > 0
      ? `${orders(tooSmall)} for less than the smallest quantity of ${symbol}: ${contracts(lot)}, which is worth ${worth.toFixed(2)} ${currency} now.`
      : `${orders(unpaid)} for more than there was money for.`
  return [
    {
      code: ORDERS_NOT_FILLED,
      message: `${why} So nothing was traded: raise the initial capital, or change the size of orders.`,
    },
  ]
}
