// How the palette ranks matches: fuzzy matches in order, better at the starts of words and in one piece.

/** Null if the letters do not all appear in this order. An empty query matches everything. */
export function fuzzy(query: string, text: string) {
  const wanted = query.toLowerCase().replace(/\s+/g, '')
  if (wanted === '') return { score: 0, at: [] }
  const lower = text.toLowerCase()
  const whole = lower.indexOf(query.toLowerCase().trim())
  if (whole >= 0) {
    const length = query.trim().length
    const starts = isStart(text, whole)
    const score = 100 + (starts ? 40 : 0) + (whole === 0 ? 30 : 0) + (length / text.length) * 20
    return { score, at: Array.from({ length }, (_, i) => whole + i) }
  }
  const at: number[] = []
  let score = 0
  let from = 0
  for (const letter of wanted) {
    // Prefer the next word that starts with this letter, unless the letter comes right away.
    let next = lower.indexOf(letter, from)
    if (next < 0) return null
    if (next !== from || at.length === 0)
      for (let i = next; i >= 0 && i < text.length; i = lower.indexOf(letter, i + 1))
        if (isStart(text, i) && fits(wanted.slice(at.length + 1), lower, i + 1)) {
          next = i
          break
        }
    score += isStart(text, next) ? 8 : next === from ? 4 : 1
    at.push(next)
    from = next + 1
  }
  const first = at[0] ?? 0
  const spread = (at.at(-1) ?? 0) - first - at.length
  return { score: score - spread * 0.2, at }
}

const isStart = (text: string, i: number): boolean =>
  i === 0 || /[^A-Za-z0-9]/.test(text[i - 1] ?? '') || /[a-z][A-Z]/.test(text.slice(i - 1, i + 1))

function fits(letters: string, text: string, from: number): boolean {
  let at = from
  for (const letter of letters) {
    const found = text.indexOf(letter, at)
    if (found < 0) return false
    at = found + 1
  }
  return true
}

/** The best matches first, equal ones in the order given; at most `limit`. */
export function ranked<T>(items: readonly T[], query: string, textOf: (item: T) => string, limit: number) {
  return items
    .flatMap((item) => {
      const match = fuzzy(query, textOf(item))
      // Letters scattered over a long text are no match: `spx` should not find "reverse proxy", nor `rsi` "coarser interval".
      const least = match && match.at.length < 4 ? 6 : 3.3
      return match && match.score >= least * match.at.length ? [{ item, match }] : []
    })
    .toSorted((a, b) => b.match.score - a.match.score)
    .slice(0, limit)
}
