// The built-ins that belong to the language itself: casts and `na`.

import { fn } from './define.ts'
import type { BuiltinEntry } from './registry.ts'

export const LANGUAGE: readonly BuiltinEntry[] = [
  fn(
    'na',
    'True where the value is na.',
    ['(int|float|color value) bool', '(any value) bool'],
    [
      { fn: (value: number) => Number.isNaN(value), pure: true },
      { fn: (value: unknown) => value === null, pure: true },
    ],
  ),
  fn(
    'nz',
    'The value, or the replacement (zero) where it is na.',
    ['(int source, int replacement = 0) int', '(float source, float replacement = 0) float'],
    {
      fn: (source: number, replacement: number) => (Number.isNaN(source) ? replacement : source),
      pure: true,
    },
  ),
]
