// The texts of the libraries that are bundled. The executable has them in one compressed file, which is first read when a
// script imports one of them (tools/build.ts).

import color from './color.pine' with { type: 'text' }
import cot from './cot.pine' with { type: 'text' }
import relativeValue from './relative-value.pine' with { type: 'text' }
import riskMetrics from './risk-metrics.pine' with { type: 'text' }
import strategy from './strategy.pine' with { type: 'text' }
import ta from './ta.pine' with { type: 'text' }
import technicalRating from './technical-rating.pine' with { type: 'text' }
import valueAtTime from './value-at-time.pine' with { type: 'text' }
import zigzag from './zigzag.pine' with { type: 'text' }

export const LIBRARY_TEXTS: Readonly<Record<string, string>> = {
  Color: color,
  LibraryCOT: cot,
  RelativeValue: relativeValue,
  RiskMetrics: riskMetrics,
  Strategy: strategy,
  TechnicalRating: technicalRating,
  ValueAtTime: valueAtTime,
  ZigZag: zigzag,
  ta,
}

export function libraryText(name: string): string {
  return LIBRARY_TEXTS[name] ?? ''
}
