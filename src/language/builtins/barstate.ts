// barstate.*: where a bar stands among the others.

import { variable } from './define.ts'
import type { BuiltinEntry } from './registry.ts'

export const BARSTATE: readonly BuiltinEntry[] = [
  variable('barstate.isfirst', 'True on the first bar.', 'series bool', {
    get: (runtime) => runtime.bar === 0,
  }),
  variable('barstate.islast', 'True on the last bar.', 'series bool', {
    get: (runtime) => runtime.isLast,
  }),
  variable('barstate.islastconfirmedhistory', 'True on the last bar that is closed.', 'series bool', {
    get: (runtime) => runtime.isLast,
  }),
  // A run only ever sees bars that are closed, each once.
  variable('barstate.ishistory', 'True on bars of the past.', 'series bool', {
    get: () => true,
    fixed: true,
  }),
  variable('barstate.isrealtime', 'True on a bar that is still being made.', 'series bool', {
    get: () => false,
    fixed: true,
  }),
  variable('barstate.isnew', 'True the first time the script runs on a bar.', 'series bool', {
    get: () => true,
    fixed: true,
  }),
  variable('barstate.isconfirmed', 'True the last time the script runs on a bar.', 'series bool', {
    get: () => true,
    fixed: true,
  }),
]
