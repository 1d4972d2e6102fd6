// Parses `--set`: `fast=5..50/5`, `mult=0.5..4/0.5`, `len=5..500/1:log`, `kind=both,long`, `strategy.pyramiding=0..3/1`.

import type { SweepBody } from '../wire/sweep.ts'
import { UsageError } from './command.ts'

type VariedFlag = SweepBody['space'][number]

const PROPERTY = 'strategy.'
const NUMBER = String.raw`-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?`
const RANGE = new RegExp(`^(${NUMBER})\\.\\.(${NUMBER})(?:/(${NUMBER}))?(:log)?$`)

/** Throws UsageError. */
export function variedOfFlag(text: string): VariedFlag {
  const at = text.indexOf('=')
  const name = text.slice(0, at).trim()
  const over = text.slice(at + 1).trim()
  if (at < 0 || name === '' || over === '')
    throw new UsageError(`--set takes NAME=MIN..MAX/STEP or NAME=VALUE,VALUE, not "${text}".`)
  const named = name.startsWith(PROPERTY) ? { property: name.slice(PROPERTY.length) } : { input: name }
  const range = RANGE.exec(over)
  if (!range) return { ...named, values: over.split(',').map((value) => valueOf(value.trim())) }
  const [, min, max, step, log] = range
  return {
    ...named,
    min: Number(min),
    max: Number(max),
    ...(step !== undefined && { step: Number(step) }),
    ...(log !== undefined && { log: true }),
  }
}

function valueOf(text: string): number | string | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return new RegExp(`^${NUMBER}$`).test(text) ? Number(text) : text
}
