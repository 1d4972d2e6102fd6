// Lines that differ between two texts: Myers' O(ND) algorithm (1986), on lines, with the common ends cut off first.

export interface DiffLine {
  readonly kind: ' ' | '+' | '-'
  readonly text: string
}

/** With more edits than this, the middle is shown as replaced as a whole; nobody could follow so many anyway. */
const EDITS_MAX = 2000

export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split('\n')
  const b = after.split('\n')
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  const same = (text: string): DiffLine => ({ kind: ' ', text })
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ]
}

function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const replaced = (): DiffLine[] => [
    ...a.map((text): DiffLine => ({ kind: '-', text })),
    ...b.map((text): DiffLine => ({ kind: '+', text })),
  ]
  if (a.length === 0 || b.length === 0) return replaced()
  // `reach[k]`: how far down diagonal k (x - y) the best path with d edits gets.
  const history: Map<number, number>[] = []
  let reach = new Map<number, number>([[1, 0]])
  for (let d = 0; d <= Math.min(EDITS_MAX, a.length + b.length); d++) {
    history.push(new Map(reach))
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1))
      let x = down ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      reach.set(k, x)
      if (x >= a.length && x - k >= b.length) return walkBack(a, b, history)
    }
  }
  return replaced()
}

function walkBack(
  a: readonly string[],
  b: readonly string[],
  history: readonly Map<number, number>[],
): DiffLine[] {
  const lines: DiffLine[] = []
  let x = a.length
  let y = b.length
  for (let d = history.length - 1; d >= 0; d--) {
    const reach = history[d] ?? new Map<number, number>()
    const k = x - y
    const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1))
    const from = down ? k + 1 : k - 1
    const startX = d === 0 ? 0 : (reach.get(from) ?? 0)
    const startY = d === 0 ? 0 : startX - from
    while (x > startX && y > startY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
      lines.push({ kind: ' ', text: a[x - 1] ?? '' })
      x--
      y--
    }
    if (d === 0) break
    if (down) lines.push({ kind: '+', text: b[--y] ?? '' })
    else lines.push({ kind: '-', text: a[--x] ?? '' })
  }
  return lines.reverse()
}
