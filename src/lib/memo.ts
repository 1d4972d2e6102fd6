// Answers that are kept because the same question comes again: what a text means, or what follows from an object that
// nobody changes.

/**
 * `make`, with its answers to about the last `max` different texts remembered. Use it only for functions that always
 * answer the same: forgetting an answer makes the next call slower, never different. Exceptions are not kept.
 */
export function memo<V>(max: number, make: (text: string) => V): (text: string) => V {
  let recent = new Map<string, V>()
  let older = new Map<string, V>()
  let last: string | null = null
  let lastValue: V | undefined
  return (text) => {
    // Scripts ask for the same timeframe on every bar: 2 ns instead of the 20 that a Map takes to find a text.
    if (text === last && lastValue !== undefined) return lastValue
    let value = recent.get(text)
    if (value === undefined) value = found(text)
    last = text
    lastValue = value
    return value
  }

  function found(text: string): V {
    const value = older.get(text) ?? make(text)
    // Half of the answers are forgotten at a time, so that those in use stay.
    if (recent.size >= max / 2) {
      older = recent
      recent = new Map()
    }
    recent.set(text, value)
    return value
  }
}

/** The same for objects: an answer is forgotten together with its object, so no bound is needed. */
export function memoOf<Subject extends object, V>(make: (subject: Subject) => V): (subject: Subject) => V {
  const known = new WeakMap<Subject, V>()
  return (subject) => {
    let value = known.get(subject)
    if (value === undefined) known.set(subject, (value = make(subject)))
    return value
  }
}

/** `make`, called when its answer is first asked for, and never again. */
export function lazily<V>(make: () => V): () => V {
  let made: { readonly value: V } | null = null
  return () => (made ??= { value: make() }).value
}

/** `make`, called once for each text: for what has a state of its own, of which there are few. */
export function onceEach<V>(make: (text: string) => V): (text: string) => V {
  const made = new Map<string, V>()
  return (text) => {
    let value = made.get(text)
    if (value === undefined) made.set(text, (value = make(text)))
    return value
  }
}

/** `make`, whose last answer holds for as long as the same is asked. */
export function whileSame<Asked extends readonly unknown[], V>(make: (...asked: Asked) => V): typeof make {
  let last: { readonly asked: Asked; readonly value: V } | null = null
  return (...asked) => {
    if (!last?.asked.every((one, i) => one === asked[i])) last = { asked, value: make(...asked) }
    return last.value
  }
}
