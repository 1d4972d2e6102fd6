// The providers that need a key.

import { alpaca } from './alpaca.ts'
import type { KeyedProvider } from './keyed-provider.ts'
import { massive } from './massive.ts'
import { tiingo } from './tiingo.ts'
import { twelveData } from './twelve-data.ts'

export const KEYED_PROVIDERS: readonly KeyedProvider[] = [alpaca, massive, tiingo, twelveData]
