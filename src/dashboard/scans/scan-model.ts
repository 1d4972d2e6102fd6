// What the pages of scans derive from a scan's fields.

import type { Scan } from '../../wire/scan.ts'

export const isUnderWay = ({ state }: Pick<Scan, 'state'>): boolean =>
  state === 'queued' || state === 'running'

/** A title as a condition on rows has to spell it. */
export function nameInCondition(title: string): string {
  const isName = /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(title) && !/^(and|or|not|true|false)$/.test(title)
  return isName ? title : `"${title}"`
}
