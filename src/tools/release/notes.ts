// The notes of a release: the section of CHANGELOG.md with its number.

/** @throws if there is no section of that version, or it has no day yet. */
export function notesOf(
  changelog: string,
  version: string,
): { readonly date: string; readonly notes: string } {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((one) => one.split(/[ \n]/)[0] === version)
  if (section === undefined) throw new Error(`CHANGELOG.md has no section for ${version}.`)
  const [title = '', ...lines] = section.split('\n')
  const date = /\((\d{4}-\d{2}-\d{2})\)$/.exec(title)?.[1]
  if (date === undefined)
    throw new Error(`The section for ${version} in CHANGELOG.md has no day behind its number.`)
  return { date, notes: `${lines.join('\n').trim()}\n` }
}
