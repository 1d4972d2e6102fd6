// Colour for people at a terminal. A file, a pipe or a reader that asked for none (no-color.org) gets the bare text.

export interface Ink {
  readonly strong: (text: string) => string
  readonly faint: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly warning: (text: string) => string
}

const same = (text: string): string => text
export const PLAIN: Ink = { strong: same, faint: same, good: same, bad: same, warning: same }

/** Select Graphic Rendition (ECMA-48, 8.3.117): set, and what sets it back. */
const between = (on: number, off: number) => (text: string) =>
  text === '' ? '' : `\x1b[${on}m${text}\x1b[${off}m`
const COLOURED: Ink = {
  strong: between(1, 22),
  faint: between(2, 22),
  good: between(32, 39),
  bad: between(31, 39),
  warning: between(33, 39),
}

/** The ink for a stream that is a terminal, or is not. */
export function inkFor(terminal: boolean, environment: Readonly<Record<string, string | undefined>>): Ink {
  const unwanted = (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb'
  return terminal && !unwanted ? COLOURED : PLAIN
}
