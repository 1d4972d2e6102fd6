// The cases that the parity runner runs: Pine scripts on bars, whose results are compared with TradingView's own numbers.
//
// A path is a manifest (`manifest.ts`), a folder of facts (`spec.ts`), or a folder in our own layout (lists.json, micro.json,
// ta.json, other.json) or in that of a repository of probes (validation/<name>/{strategy.pine,tv_trades.csv} and data/*.csv).

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ParityCase } from './case.ts'
import { manifestCases } from './manifest.ts'
import { ownCases } from './own.ts'
import { probeCases } from './probes.ts'
import { specCases } from './spec.ts'

/** All cases of a manifest, or of a folder in either layout. `left` is called with each case that expects nothing. */
export function parityCases(
  path: string,
  only: readonly string[] = [],
  left: (line: string) => void = () => {},
): ParityCase[] {
  const cases = path.endsWith('.json')
    ? manifestCases(path, left)
    : existsSync(join(path, 'validation'))
      ? probeCases(path)
      : existsSync(join(path, 'bars.json'))
        ? specCases(path)
        : ownCases(path)
  return only.length === 0 ? cases : cases.filter((one) => only.some((name) => one.id.startsWith(name)))
}
