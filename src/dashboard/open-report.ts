// From a list of backtests to the chart: how a stored run is opened wherever its name is shown.

import { navigate } from './router.ts'
import { openBacktest } from './run-script.ts'
import { bottom } from './workspace.ts'

export async function openReport(id: string): Promise<void> {
  await openBacktest(id)
  bottom.value = 'report'
  navigate('/')
}
