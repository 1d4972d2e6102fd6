// Asking for an alert at a price of a chart: the form opens, and beside the chart the list that it will stand in.

import { alertAt, side } from '../workspace.ts'
import { onTick, type Cell } from './cell.ts'

export function askAlert(cell: Cell, at: number): void {
  alertAt.value = { market: cell.market.value, price: onTick(cell, at) }
  side.value = 'alerts'
}
