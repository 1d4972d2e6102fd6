// Chooses which points of a long curve are drawn, so that no peak and no trough is lost.

/** Indices in order: all of them, or of each stretch its first, lowest and highest value, and the very last. */
export function thinned(values: readonly (number | null)[], most: number): number[] {
  const { length } = values
  if (length <= most) return values.map((_, i) => i)
  const stretches = Math.floor((most - 1) / 3)
  const kept = new Set<number>()
  for (let stretch = 0; stretch < stretches; stretch++) {
    const from = Math.floor((stretch * length) / stretches)
    const to = Math.floor(((stretch + 1) * length) / stretches)
    let [lowest, highest] = [from, from]
    for (let i = from; i < to; i++) {
      const value = values[i]
      if (value === null || value === undefined) continue
      if (value < (values[lowest] ?? Infinity)) lowest = i
      if (value > (values[highest] ?? -Infinity)) highest = i
    }
    for (const i of [from, lowest, highest]) kept.add(i)
  }
  kept.add(length - 1)
  return [...kept].sort((a, b) => a - b)
}
