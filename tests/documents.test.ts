// What a clone is read by: README, changelog, help and maps lead somewhere, name commands that there are, and stay short.

import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { scripts } from '../package.json'

const root = join(import.meta.dir, '..')
const documents = ['*.md', '.github/*.md', '{src,tests}/**/*.md'].flatMap((pattern) =>
  [...new Bun.Glob(pattern).scanSync({ cwd: root, dot: true })].filter(
    (file) => !file.includes('node_modules'),
  ),
)
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

/** The name that a heading has in an address, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** Whether `link`, as it stands in `file`, leads to a file or folder, and its `#` to a heading there. */
function leadsSomewhere(file: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? file : join(dirname(file), path)
  if (!statSync(join(root, target), { throwIfNoEntry: false })) return false
  if (anchor === undefined) return true
  return [...textOf(target).matchAll(/^#+ (.*)$/gm)].some(([, heading = '']) => anchorOf(heading) === anchor)
}

test('every link leads to a file, and to a heading in it', () => {
  const links = documents.flatMap((file) =>
    [...textOf(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => ({ file, link })),
  )
  const dead = links.filter(({ file, link }) => !/^(https?:|\{\{)/.test(link) && !leadsSomewhere(file, link))
  expect(dead).toEqual([])
  expect(links.length).toBeGreaterThan(80)
  expect(leadsSomewhere('README.md', '#how-safe')).toBe(true)
  expect(leadsSomewhere('README.md', '#nothing-of-the-kind')).toBe(false)
})

test('every script that is named is one of package.json', () => {
  const named = documents.flatMap((file) =>
    [...textOf(file).matchAll(/(?<=^|`)(?:npm run|bun run|npm) ([a-z][\w-]*)(?= |`|$)/gm)].map(
      ([, name = '']) => `${file}: ${name}`,
    ),
  )
  const known = new Set(Object.keys(scripts))
  expect(named.filter((one) => !known.has(one.split(': ')[1]!))).toEqual([])
})

test('the README, its pictures and the changelog stay short', () => {
  expect(textOf('README.md').length).toBeLessThanOrEqual(9000)
  expect(textOf('CHANGELOG.md').split('\n').length).toBeLessThanOrEqual(150)
  const pictures = readdirSync(join(root, '.github/pictures'))
  const sizes = pictures.map((name) => statSync(join(root, '.github/pictures', name)).size)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(600_000)
  expect(pictures.filter((name) => !textOf('README.md').includes(`.github/pictures/${name}`))).toEqual([])
})
