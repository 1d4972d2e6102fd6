// Takes the secrets of a channel or a bridge out of what a service answered: many pages of errors repeat the address and the
// headers that they were asked by, and whoever reads the log may not read the secrets.

/** Shorter parts are left, since they would be found in words. */
const PART_MIN = 6
/** The scheme and host of an address, or the name of a header and, of `Bearer …`, the word in front. */
const LEAD = /^[!-9;-~]+:(?:\/\/[^/?#]*|[ \t]*(?:[a-z]+[ \t]+)?)/i
/** A placeholder, or the name of a parameter, and what else ends the value of one. */
const AROUND_VALUES = /\{\{.*?\}\}|[?&][^=&#]*=|[\s?&#;]+/
const WITHIN_VALUES = /[/\\:,="']+/

/** Of a line of a secret setting: all of it, and what may be repeated alone, as it is and as an address means it. */
function partsOf(line: string): readonly string[] {
  const [lead = ''] = LEAD.exec(line) ?? []
  const rest = line.slice(lead.length).trim()
  // A host is no secret, but some services give everybody one of their own.
  const host = lead.includes('//') ? lead.split(/[/:.]/).filter((label) => /\d/.test(label)) : []
  const values = rest.split(AROUND_VALUES)
  const parts = [line, rest, ...host, ...values, ...values.flatMap((value) => value.split(WITHIN_VALUES))]
  return [...parts, ...parts.map(decoded)]
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** A pattern for a text however it is escaped: in an address, in JSON, or in HTML. */
const anyForm = (text: string): string =>
  Array.from(text, (char) => {
    if (/\w/.test(char)) return char
    const bytes = Buffer.from(char).toString('hex').replace(/../g, '%$&')
    const units = Buffer.from(char, 'utf16le')
      .swap16()
      .toString('hex')
      .replace(/.{4}/g, String.raw`\\u$&`)
    return String.raw`(?:\\?${RegExp.escape(char)}|${bytes}|${units}|&#?\w{1,8};${char === '+' ? '| ' : ''})`
  }).join('')

/** A text without what the settings that are secret are, or contain. */
export function masker(
  { fields }: { readonly fields: Readonly<Record<string, { readonly secret?: boolean }>> },
  settings: Readonly<Record<string, string>>,
): (text: string) => string {
  const secrets = Object.keys(fields).filter((name) => fields[name]?.secret)
  const parts = secrets
    .flatMap((name) => (settings[name] ?? '').split(/\r?\n/))
    .flatMap(partsOf)
    .filter(({ length }) => length >= PART_MIN)
    .sort((a, b) => b.length - a.length)
  if (parts.length === 0) return (text) => text
  const pattern = new RegExp([...new Set(parts)].map(anyForm).join('|'), 'gi')
  return (text) => text.replace(pattern, '…')
}
