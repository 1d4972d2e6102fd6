// Opens a market on the chart, from rows of other pages.

import { navigate, path } from '../router.ts'
import { lookAt, market, type Market } from '../workspace.ts'

export function showOnChart({ exchange, symbol, interval }: Market, time?: number): void {
  market.value = { exchange, symbol, interval }
  if (time !== undefined) lookAt.value = { time }
  if (path.value !== '/' && !path.value.startsWith('/chart')) navigate('/')
}
