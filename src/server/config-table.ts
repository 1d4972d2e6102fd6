// Writes the table of settings into README.md, between the two markers. A test fails if the table is out of date.

import { configRows } from './config.ts'

const README = `${import.meta.dir}/../../README.md`
const BEGIN = '<!-- settings -->'
const END = '<!-- /settings -->'

function configTable(): string {
  const rows = configRows().map(
    ({ name, flag, default: fallback, help }) =>
      `| \`${name}\` | \`${flag}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${help} |`,
  )
  return ['| environment | flag | default | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

/** `text` with the table replaced; null if it has no markers. */
export function withConfigTable(text: string): string | null {
  const begin = text.indexOf(BEGIN)
  const end = text.indexOf(END)
  if (begin < 0 || end < begin) return null
  return `${text.slice(0, begin + BEGIN.length)}\n${configTable()}\n${text.slice(end)}`
}

if (import.meta.main) {
  const updated = withConfigTable(await Bun.file(README).text())
  if (updated === null) throw new Error(`README.md has no ${BEGIN} … ${END}`)
  await Bun.write(README, updated)
}
