// The name somebody meant: nearest by Damerau–Levenshtein distance (optimal string alignment), if near enough.

/** Longer names cost the square of their length, and nobody mistypes them. */
const LENGTH_MAX = 64

/** Looks at `most` candidates at most; `compared` is how many it took. */
export function nearest(
  name: string,
  candidates: Iterable<string>,
  most: number,
): { readonly found: string | null; readonly compared: number } {
  if (name.length > LENGTH_MAX) return { found: null, compared: 0 }
  const lower = name.toLowerCase()
  let best: string | null = null
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1
  let compared = 0
  for (const candidate of candidates) {
    if (++compared > most) break
    if (Math.abs(candidate.length - name.length) >= bestDistance || candidate === name) continue
    const distance = editDistance(lower, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return { found: best, compared }
}

/** Insertions, deletions, replacements and swaps of neighbours, each counted one. */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replace = at(previous, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let distance = Math.min(replace, at(previous, j) + 1, at(row, j - 1) + 1)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        distance = Math.min(distance, at(beforePrevious, j - 2) + 1)
      row.push(distance)
    }
    beforePrevious = previous
    previous = row
  }
  return at(previous, b.length)
}

function at(row: readonly number[], i: number): number {
  return row[i] ?? 0
}
