// How a script describes itself: in the comment it opens with.

/** Words that only licences contain; such a paragraph says nothing about the script. */
const LICENCE = /©|\blicen[cs]ed?\b|mozilla\.org|all rights reserved/i
const DESCRIPTION_MAX = 1500

/** Paragraphs of the comment before the first line of code, or after `//@description`; [] if there is none. */
export function aboutScript(source: string): readonly string[] {
  const paragraphs: string[] = []
  let open = false
  for (const line of source.split('\n')) {
    const comment = /^\s*\/\/(.*)$/.exec(line)?.[1]?.trim()
    if (comment === undefined) {
      if (line.trim() !== '') break
      open = false
      continue
    }
    const described = /^@description\s+(.+)/.exec(comment)?.[1]
    if (described !== undefined) return [described.slice(0, DESCRIPTION_MAX)]
    // Annotations, licences and lines of dashes are not part of the text.
    const text = /^@\w|^\W*$/.test(comment) || LICENCE.test(comment) ? '' : comment
    if (text === '') open = false
    else if (open) paragraphs.push(`${paragraphs.pop() ?? ''} ${text}`)
    else open = paragraphs.push(text) > 0
  }
  return paragraphs.map((text) => text.slice(0, DESCRIPTION_MAX))
}
