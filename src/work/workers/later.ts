// Work that is done after some time, unless something comes before.

/** Calls `work` after some time unless the returned function is called before. */
export type Later = (work: () => void, ms: number) => () => void

export const later: Later = (work, ms) => {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}

/** Calls `work` again and again until the returned function is called. */
export const every: Later = (work, ms) => {
  const timer = setInterval(work, ms)
  return () => clearInterval(timer)
}
