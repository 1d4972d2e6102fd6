// What of a script an alert can wait for, read from its text: a plot that crosses a level, the price, or another plot.
//
// An alert compares one plot with one level. For two lines that cross, a plot of their difference is added to the script, which
// nobody sees and which crosses zero where they cross.

export interface Crossing {
  /** `RSI crosses a level`, `Price crosses EMA`. */
  readonly text: string
  /** The title of the plot that is compared. */
  readonly plot: string
  /** The script to run for it: its own, or with the difference. */
  readonly source: string
  /** The level to begin with; null = none is known. */
  readonly level: number | null
  /** Whether the level stays as it is, because it is that of a difference. */
  readonly isDifference: boolean
}

interface Line {
  readonly title: string
  /** What it plots, as it is written. */
  readonly value: string
}

/** The one that is most likely meant comes first. Only calls that stand at the beginning of a line are read. */
export function crossingsOf(source: string): readonly Crossing[] {
  const lines = linesOf(source)
  const levels = levelsOf(source)
  const ofLevels = lines.map(({ title }): Crossing => ({
    text: `${title} crosses a level`,
    plot: title,
    source,
    level: levels.find((level) => level !== 0) ?? levels[0] ?? null,
    isDifference: false,
  }))
  const difference = (a: Line, b: Line): Crossing => {
    const plot = `${a.title} less ${b.title}`
    return {
      text: `${a.title} crosses ${b.title}`,
      plot,
      source: `${source.trimEnd()}\nplot((${a.value}) - (${b.value}), "${plot}", display = display.none)\n`,
      level: 0,
      isDifference: true,
    }
  }
  const isOverlay = /^\w*(?:indicator|study|strategy)\([^\n]*\boverlay\s*=\s*true/m.test(source)
  const withPrice = isOverlay ? lines.map((line) => difference({ title: 'Price', value: 'close' }, line)) : []
  const pairs = lines.flatMap((a, i) => lines.slice(i + 1).map((b) => difference(a, b))).toReversed()
  const isBounded = levels.some((level) => level !== 0)
  return isOverlay
    ? [...withPrice, ...pairs, ...ofLevels]
    : isBounded || pairs.length === 0
      ? [...ofLevels, ...pairs]
      : [...pairs, ...ofLevels]
}

/** Plots that are seen, with a title of their own. */
function linesOf(source: string): readonly Line[] {
  const found: Line[] = []
  for (const line of source.split('\n')) {
    const open = /^(?:\w+\s*=\s*)?plot\(/.exec(line)
    if (!open) continue
    const [value = '', ...rest] = argumentsOf(line.slice(open[0].length))
    const title = rest.map((one) => /^(?:title\s*=\s*)?"([^"\\]+)"$/.exec(one)?.[1]).find((one) => one)
    if (title === undefined || value === 'na' || rest.some((one) => /display\.(none|data_window)/.test(one)))
      continue
    if (!found.some((one) => one.title === title)) found.push({ title, value })
  }
  return found
}

/** What hline() draws: numbers, or inputs by their defaults. */
function levelsOf(source: string): readonly number[] {
  return [...source.matchAll(/^(?:\w+\s*=\s*)?hline\(\s*([-\w.]+)/gm)].flatMap(([, of = '']) => {
    const own = new RegExp(`^${of}\\s*=\\s*input(?:\\.\\w+)?\\(\\s*(-?[\\d.]+)`, 'm').exec(source)
    const level = Number(own?.[1] ?? of)
    return Number.isFinite(level) ? [level] : []
  })
}

/** The arguments of a call, from behind its bracket to the one that closes it. */
function argumentsOf(text: string): readonly string[] {
  const found: string[] = []
  let [depth, begin, quote] = [0, 0, '']
  for (let i = 0; i < text.length; i++) {
    const letter = text[i]!
    if (quote !== '') {
      if (letter === quote) quote = ''
    } else if (letter === '"' || letter === "'") quote = letter
    else if (letter === '(' || letter === '[') depth++
    else if (depth > 0 && (letter === ')' || letter === ']')) depth--
    else if (depth === 0 && (letter === ',' || letter === ')')) {
      found.push(text.slice(begin, i).trim())
      begin = i + 1
      if (letter === ')') return found
    }
  }
  return []
}
