// Whether somebody asks for a commission of more than the trade: in a run, a part of a portfolio, a scan, or what a sweep varies.
// What a script itself says is taken as TradingView takes it. Those that were made before there was a bound go on.

import { invalidField } from '../lib/problem.ts'
import { commissionRefusal } from '../wire/commission.ts'
import { COMMISSION_TYPES, settingWord } from './setting-values.ts'

type Settings = Readonly<Record<string, unknown>>

/** What a sweep tries instead of one value. */
export interface VariedSettings {
  readonly space: readonly {
    readonly property?: string | undefined
    readonly values?: readonly unknown[] | undefined
    readonly max?: number | undefined
  }[]
  /** Conditions between them. */
  readonly where: readonly unknown[]
}

/** `declared`: the arguments of the script's declaration. Throws Problem 422 in the words of a new run. */
export function assertCommission(
  overrides: Settings,
  declared: Settings,
  { space, where }: VariedSettings = { space: [], where: [] },
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
