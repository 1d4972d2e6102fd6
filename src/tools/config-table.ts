// `bun src/tools/config-table.ts`: writes the table of settings into the help's article on them. A test fails if it is out of
// date.

import { configRows } from '../server/config.ts'

export const SETTINGS_ARTICLE = `${import.meta.dir}/../people/support/articles/configuration.md`

/** `text` with its table replaced. */
export function withConfigTable(text: string): string {
  const rows = configRows().map(
    ({ name, default: fallback, help }) =>
      `| \`${name}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${help} |`,
  )
  const table = ['| setting | default | meaning |', '| --- | --- | --- |', ...rows].join('\n')
  return text.replace(/(?:^\|.*\n)+/m, () => `${table}\n`)
}

if (import.meta.main)
  await Bun.write(SETTINGS_ARTICLE, withConfigTable(await Bun.file(SETTINGS_ARTICLE).text()))
