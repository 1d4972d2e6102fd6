// `bun src/tools/changelog.ts`: writes the section of package.json's version in CHANGELOG.md.
//
// The section is made from the lines that start with FEATURE:, FIX: or BREAKING: in the messages of the commits since the
// previous version. What such a line said wrong, a later commit takes back: RETRACT: with the entry's own words, and
// FIX: with the right ones. Sections of earlier versions are not changed. A heading names the commit of its release, since a clone
// may have no tags.

import { readFileSync, writeFileSync } from 'node:fs'
import { commandLine } from './command-line.ts'

const KINDS = [
  ['BREAKING', 'What breaks'],
  ['FEATURE', 'New'],
  ['FIX', 'Mended'],
] as const
/** RETRACT takes back the entry with the same text, of whatever kind. */
type Kind = (typeof KINDS)[number][0] | 'RETRACT'

export interface ChangelogEntry {
  readonly kind: Kind
  readonly text: string
}

/**
 * The entries of a commit's message. A subject with such a word counts only if the body has none, since the body is written
 * for users.
 */
export function entriesOf(message: string): ChangelogEntry[] {
  const [subject = '', ...body] = message.trim().split('\n')
  const entries = paragraphsOf(body)
  return entries.length > 0 ? entries : paragraphsOf([subject])
}

/** An entry ends with a line that ends a sentence, with an empty line, or where the next entry begins. */
function paragraphsOf(lines: readonly string[]): ChangelogEntry[] {
  const found: { kind: Kind; text: string }[] = []
  let open = false
  for (const line of lines) {
    const [, kind, text] = /^(BREAKING|FEATURE|FIX|RETRACT): *(.*)$/.exec(line) ?? []
    if (kind) found.push({ kind: kind as Kind, text: text ?? '' })
    else if (open && line.trim() !== '') found[found.length - 1]!.text += ` ${line.trim()}`
    open = (kind !== undefined || (open && line.trim() !== '')) && !/[.!?]$/.test(line.trim())
  }
  return found.map(({ kind, text }) => ({ kind, text: sentence(text) }))
}

function sentence(text: string): string {
  const trimmed = text.trim()
  // The name of a function or a command at the beginning keeps its small letter, as in ta.vwap and `bun run bench`.
  const first = /^(?!bun |chartroom |npm |serve )[a-z]+([\s,:]|$)/.test(trimmed)
    ? trimmed.charAt(0).toUpperCase()
    : trimmed.charAt(0)
  return `${first}${trimmed.slice(1)}${/[.!?]$/.test(trimmed) ? '' : '.'}`
}

export function sectionOf(version: string, entries: readonly ChangelogEntry[]): string {
  const retracted = new Set(entries.filter(({ kind }) => kind === 'RETRACT').map(({ text }) => text))
  const parts = KINDS.flatMap(([kind, title]) => {
    const said = entries.filter((entry) => entry.kind === kind && !retracted.has(entry.text))
    const texts = new Set(said.map(({ text }) => text))
    return texts.size === 0 ? [] : [`### ${title}\n\n${[...texts].map((text) => `- ${text}`).join('\n')}\n`]
  })
  return [`## ${version}\n`, ...parts].join('\n')
}

/** The file with the section of `version` replaced, or added in front of the others. */
export function withSection(file: string, version: string, section: string): string {
  const [intro = '', ...sections] = file.split(/^(?=## )/m)
  const others = sections.filter((one) => versionOf(one) !== version)
  return [intro, section, others.length > 0 ? '\n' : '', ...others].join('')
}

function versionOf(section: string): string {
  return /^## (\S+)/.exec(section)?.[1] ?? ''
}

function git(...args: string[]): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync(['git', ...args])
  if (exitCode !== 0) throw new Error(stderr.toString().trim())
  return stdout.toString().trim()
}

const HELP = `bun src/tools/changelog.ts

Writes the section of package.json's version in CHANGELOG.md, from the FEATURE, FIX and BREAKING lines of the commits.`

if (import.meta.main) {
  commandLine(HELP, {})
  const root = `${import.meta.dir}/../..`
  const { version } = (await Bun.file(`${root}/package.json`).json()) as { version: string }
  let file = readFileSync(`${root}/CHANGELOG.md`, 'utf8')
  const before =
    file.split(/^(?=## )/m).find((one) => one.startsWith('## ') && versionOf(one) !== version) ?? ''
  const heading = before.split('\n')[0] ?? ''
  let since = /\(\S+, ([0-9a-f]{7,})\)/.exec(heading)?.[1]
  if (since === undefined && heading !== '') {
    since = git('log', '-1', '--format=%h', `v${versionOf(before)}`)
    file = file.replace(heading, `${heading} (${git('log', '-1', '--format=%cs', since)}, ${since})`)
  }
  const messages = git('log', '--format=%B%x00', since === undefined ? 'HEAD' : `${since}..HEAD`).split('\0')
  const entries = messages.toReversed().flatMap(entriesOf)
  writeFileSync(`${root}/CHANGELOG.md`, withSection(file, version, sectionOf(version, entries)))
  console.log(`CHANGELOG.md: ${version}, ${entries.length} entries since ${since ?? 'the beginning'}`)
}
