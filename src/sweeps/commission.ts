// Whether a sweep would try a commission of more than the trade.

import { COMMISSION_TYPES, settingWord } from '../backtest/setting-values.ts'
import { invalidField } from '../lib/problem.ts'
import { commissionRefusal } from '../wire/commission.ts'
import type { Sweep } from './records.ts'

type Settings = Readonly<Record<string, unknown>>

/** `declared`: the arguments of the script's declaration. Throws Problem 422 in the words of a new run. */
export function assertCommissions(
  { space, where }: Pick<Sweep, 'space' | 'where'>,
  overrides: Settings,
  declared: Settings,
): void {
  const asked = (name: string) => {
    const at = space.findIndex(({ property }) => property === name)
    const varied = space[at]
    if (varied) return { path: `/space/${at}`, values: varied.values ?? [varied.max], isVaried: true }
    return {
      path: name in overrides ? `/overrides/${name}` : null,
      values: [name in overrides ? overrides[name] : declared[name]],
      isVaried: false,
    }
  }
  const [type, value] = [asked('commission_type'), asked('commission_value')]
  if (type.path === null && value.path === null) return
  // Conditions may keep a large amount of money from being tried as a percentage.
  if (type.isVaried && value.isVaried && where.length > 0) return
  const isPercent = type.values.some((one) => (settingWord(one, COMMISSION_TYPES) ?? 'percent') === 'percent')
  const most = Math.max(...value.values.map((one) => (typeof one === 'number' ? one : 0)))
  const refusal = isPercent ? commissionRefusal('percent', most) : null
  if (refusal !== null) throw invalidField(value.path ?? '/overrides/commission_value', 'setting', refusal)
}
