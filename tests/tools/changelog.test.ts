// The changelog: made of what commits tell their users, and never behind the version.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import packageFile from '../../package.json' with { type: 'json' }
import { entriesOf, sectionOf, withSection } from '../../src/tools/changelog.ts'

const changelog = readFileSync(`${import.meta.dir}/../../CHANGELOG.md`, 'utf8')
const headings = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading)

describe('CHANGELOG.md', () => {
  test('begins with the version of package.json', () => {
    expect(headings[0]?.split(' ')[0]).toBe(packageFile.version)
    expect(changelog.split(/^## /m)[1]).toMatch(/^- \S/m)
  })

  test('has each version once, newest first, and says of earlier ones which commit they were', () => {
    const versions = headings.map((heading) => heading.split(' ')[0] ?? '')
    expect(versions.toSorted(Bun.semver.order).toReversed()).toEqual(versions)
    expect(new Set(versions).size).toBe(versions.length)
    for (const heading of headings.slice(1))
      expect(heading).toMatch(/^\S+ \(\d{4}-\d\d-\d\d, [0-9a-f]{7,}\)$/)
  })
})

test.each([
  [
    'a line of the body',
    'Fill gaps\n\nWhy.\n\nFIX: stops that gap fill at the open',
    ['FIX Stops that gap fill at the open.'],
  ],
  ['over two lines', 'Fill\n\nFEATURE: one\nand two\n\nprose', ['FEATURE One and two.']],
  ['prose right behind its sentence', 'Fill\n\nFIX: One.\nIt was two.', ['FIX One.']],
  ['several', 'Fill\n\nBREAKING: one\nFIX: ta.vwap is two', ['BREAKING One.', 'FIX ta.vwap is two.']],
  ['the subject where the body tells nothing', 'FIX: Fill gaps\n\nWhy.', ['FIX Fill gaps.']],
  ['nothing', 'Split a file', []],
])('a message tells users %s', (_, message, told) => {
  expect(entriesOf(message).map(({ kind, text }) => `${kind} ${text}`)).toEqual(told)
})

test('an entry that said something wrong is taken back by its words', () => {
  const entries = entriesOf('Mend\n\nFIX: B is fast.\n').concat(
    entriesOf('Say it right\n\nRETRACT: B is fast.\nFIX: B is faster.\nFIX: C.\n'),
  )
  expect(sectionOf('2.0.0', entries)).toBe('## 2.0.0\n\n### Mended\n\n- B is faster.\n- C.\n')
})

test('a section takes the place of its own version and stands before the others', () => {
  const section = sectionOf('2.0.0', [
    { kind: 'FIX', text: 'B.' },
    { kind: 'BREAKING', text: 'A.' },
    { kind: 'FIX', text: 'B.' },
  ])
  expect(section).toBe('## 2.0.0\n\n### What breaks\n\n- A.\n\n### Mended\n\n- B.\n')
  const first = withSection('# Changelog\n\n## 1.0.0 (x)\n\n- C.\n', '2.0.0', section)
  expect(first).toBe(`# Changelog\n\n${section}\n## 1.0.0 (x)\n\n- C.\n`)
  expect(withSection(first, '2.0.0', section)).toBe(first)
})
