// A signature in pieces, so that the argument being written can be highlighted.

import type { SignatureHelp } from '../../language/editor.ts'

export function partsOf(
  signatureText: string,
  { argument, argumentName }: Pick<SignatureHelp, 'argument' | 'argumentName'>,
): { text: string; current: boolean }[] {
  const close = signatureText.lastIndexOf(')')
  if (!signatureText.startsWith('(') || close < 0) return [{ text: signatureText, current: false }]
  const inner = signatureText.slice(1, close)
  const parameters: string[] = []
  let depth = 0
  let from = 0
  for (let i = 0; i <= inner.length; i++) {
    const character = inner[i]
    if (character === '<' || character === '(' || character === '[') depth++
    else if (character === '>' || character === ')' || character === ']') depth--
    else if (i === inner.length || (character === ',' && depth === 0)) {
      parameters.push(inner.slice(from, i))
      from = i + 1
    }
  }
  const nameOf = (text: string) => /([A-Za-z_]\w*)\??\s*(?:=.*)?$/.exec(text.trim())?.[1]
  const named = argumentName === null ? -1 : parameters.findIndex((text) => nameOf(text) === argumentName)
  const last = parameters.length - 1
  const repeats = (parameters[last] ?? '').includes('...')
  const current =
    named >= 0 ? named : argumentName !== null ? -1 : repeats ? Math.min(argument, last) : argument
  const parts: { text: string; current: boolean }[] = [{ text: '(', current: false }]
  for (const [i, text] of parameters.entries()) {
    if (i > 0) parts.push({ text: ',', current: false })
    parts.push({ text, current: i === current })
  }
  parts.push({ text: signatureText.slice(close), current: false })
  return parts
}
