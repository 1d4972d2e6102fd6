// Work that is split among the workers: parts of it are under way at a time, and are put together again in order.

export interface PartsOptions<Part> {
  readonly count: number
  /** The most parts that may be under way at a time. */
  readonly atOnce: number
  /** How many items to take next, given how many are left. */
  readonly size: (left: number) => number
  readonly signal: AbortSignal
  readonly work: (from: number, to: number) => Promise<Part>
}

/** Splits the items into parts, with some under way at a time, and answers the parts in order, whichever was done first. */
export async function inParts<Part>({
  count,
  atOnce,
  size,
  signal,
  work,
}: PartsOptions<Part>): Promise<{ readonly from: number; readonly part: Part }[]> {
  const found: { readonly from: number; readonly part: Part }[] = []
  let next = 0
  // Each hand takes the next part until none is left.
  const hand = async () => {
    while (next < count) {
      signal.throwIfAborted()
      const from = next
      next = Math.min(count, from + Math.max(1, size(count - from)))
      found.push({ from, part: await work(from, next) })
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, hand))
  return found.toSorted((a, b) => a.from - b.from)
}
