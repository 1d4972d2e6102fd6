// What the pages of scans derive from a scan's fields.

/** A title as a condition on rows has to spell it. */
export function nameInCondition(title: string): string {
  const isName = /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(title) && !/^(and|or|not|true|false)$/.test(title)
  return isName ? title : `"${title}"`
}
