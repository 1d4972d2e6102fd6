// Answers that are kept because they are asked for again: what a text means, or what follows from an object that nobody
// changes, worked out once.

/**
 * `make`, which remembers what it answered to the last `max` different texts or so. Only for functions that answer the same
 * every time: to forget one makes the next answer slower, never another. What throws is not kept.
 */
export function memo<V>(max: number, make: (text: string) => V): (text: string) => V {
  let recent = new Map<string, V>()
  let older = new Map<string, V>()
  return (text) => {
    let value = recent.get(text)
    if (value !== undefined) return value
    value = older.get(text) ?? make(text)
    // Half of them are forgotten at a time, so that those in use stay.
    if (recent.size >= max / 2) {
      older = recent
      recent = new Map()
    }
    recent.set(text, value)
    return value
  }
}

/** The same of objects: an answer is forgotten together with what it was asked of, so they need no bound. */
export function memoOf<Subject extends object, V>(make: (subject: Subject) => V): (subject: Subject) => V {
  const known = new WeakMap<Subject, V>()
  return (subject) => {
    let value = known.get(subject)
    if (value === undefined) known.set(subject, (value = make(subject)))
    return value
  }
}
