// JSON that is text already: a stored report goes out as it was stored, without being parsed on the way.

export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }

  /** For whoever stringifies it all the same. */
  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/** The text of an answer whose own fields may be JsonText. */
export function answerText(answer: Readonly<Record<string, unknown>>): string {
  if (!hasJsonText(answer)) return JSON.stringify(answer)
  const fields = Object.entries(answer).flatMap(([name, value]) => {
    const text = value instanceof JsonText ? value.text : JSON.stringify(value)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${fields.join(',')}}`
}

export function hasJsonText(answer: Readonly<Record<string, unknown>>): boolean {
  return Object.values(answer).some((value) => value instanceof JsonText)
}
