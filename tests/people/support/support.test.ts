import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { SECTIONS } from '../../../src/dashboard/help/sections.ts'
import { idSource } from '../../../src/lib/ids.ts'
import { testKv } from '../../store/test-store.ts'
import { createSupport, parseArticle } from '../../../src/people/support/support.ts'

const folder = `${import.meta.dir}/../../../src/people/support/articles`
const articles = readdirSync(folder).map((file) =>
  parseArticle(file.replace(/\.md$/, ''), readFileSync(`${folder}/${file}`, 'utf8')),
)
const clock = { now: () => 0, sleep: () => Promise.resolve() }
const support = createSupport({
  kv: testKv(),
  clock,
  newId: idSource({ clock, random: { bytes: (n) => new Uint8Array(n) } }),
  articles,
})

describe('the articles', () => {
  test('each have title, keywords and text', () => {
    expect(articles.length).toBeGreaterThan(30)
    expect(articles.filter(({ title, keywords, body }) => !title || !keywords || body.length < 100)).toEqual(
      [],
    )
  })
  test('link to articles that exist, by their files, which are addresses when they are read here', () => {
    const names = new Set(articles.map((article) => `/help/${article.id}`))
    const links = articles.flatMap(({ body }) =>
      [...body.matchAll(/\]\(([^)]*)\)/g)].map(([, to = '']) => to).filter((to) => !/^https:|^\{\{/.test(to)),
    )
    expect(links.filter((target) => !names.has(target))).toEqual([])
    expect(links.length).toBeGreaterThan(30)
    expect(parseArticle('a', 'See [fills](fills.md).').body).toBe('See [fills](/help/fills).')
  })
  test('stand in the contents, each once', () => {
    const listed = SECTIONS.flatMap(([, ids]) => ids)
    expect(listed.toSorted()).toEqual(articles.map(({ id }) => id).toSorted())
  })
})

describe('the chat', () => {
  test.each([
    ['How do I verify the signature of a webhook?', 'webhook-signature'],
    ['forgot my password', 'password'],
    ['import a csv file with bars', 'import-bars'],
    ['why does my alert not fire any more', 'alerts'],
    ['sharpe ratio', 'sharpe-sortino'],
    ['docker volume', 'docker'],
    ['compare with tradingview export', 'compare-tradingview'],
    ['token scopes', 'api-tokens'],
  ])('%p → %s', (question, expected) => {
    const answers = support.ask(question)
    expect(answers.slice(0, 3).map((answer) => answer.id)).toContain(expected)
    expect(answers[0]).toMatchObject({ url: `/help/${answers[0]?.id}` })
  })
  test('an answer keeps what is code, and drops the marks of Markdown', () => {
    const body =
      '**Size** is `strategy.position_size * 2` in _contracts_, or [`bar_index`](bars) on calc_on_every_tick; 2 * 3 * 4.\n\nMore.'
    const one = createSupport({
      kv: testKv(),
      clock,
      newId: idSource({ clock, random: { bytes: (n) => new Uint8Array(n) } }),
      articles: [{ id: 'size', title: 'Size', keywords: 'contracts quantity', body }, ...articles],
    })
    expect(one.ask('size in contracts').find(({ id }) => id === 'size')?.excerpt).toBe(
      'Size is strategy.position_size * 2 in contracts, or bar_index on calc_on_every_tick; 2 * 3 * 4.',
    )
  })
  test.each(['', 'the of and', 'xylophone quux', '?!'])('has nothing to say to %p', (question) => {
    expect(support.ask(question)).toEqual([])
  })
})

const made = (list: readonly { id: string; title?: string; keywords?: string; body?: string }[]) => {
  let byte = 0
  return createSupport({
    kv: testKv(),
    clock: { now: () => 77, sleep: () => Promise.resolve() },
    newId: idSource({ clock, random: { bytes: (n) => new Uint8Array(n).map(() => byte++) } }),
    articles: list.map((one) => ({ title: one.id, keywords: '', body: 'Text.', ...one })),
  })
}

describe('an article', () => {
  test('is its front matter and what follows, or a text without', () => {
    expect(parseArticle('a', '---\ntitle:  One \nkeywords: x, y\n---\n\nBody\n')).toEqual({
      id: 'a',
      title: 'One',
      keywords: 'x, y',
      body: 'Body',
    })
    expect(parseArticle('b', 'Only text')).toEqual({ id: 'b', title: 'b', keywords: '', body: 'Only text' })
  })
  test('is found by its name', () => {
    const one = made([{ id: 'a' }, { id: 'b' }])
    expect(one.article('b').id).toBe('b')
    expect(() => one.article('c')).toThrow(
      expect.objectContaining({ status: 404, code: 'article_not_found' }),
    )
  })
  test('is shown by its first 280 characters, cut at a word', () => {
    const excerpt = (body: string) =>
      made([{ id: 'zebra', keywords: 'zebra', body }]).ask('zebra')[0]?.excerpt
    const whole = `${'word '.repeat(55)}words`
    expect(whole.length).toBe(280)
    expect(excerpt(whole)).toBe(whole)
    // One more: 55 words are left of 56, and the mark.
    expect(excerpt(`${whole}.`)).toBe(`${'word '.repeat(55).trim()}…`)
    expect(excerpt('two\nlines  and more\n\nsecond')).toBe('two lines and more')
  })
})

describe('what is asked', () => {
  test('is answered by five articles at most, the title before the keywords before the text', () => {
    const filler = Array.from({ length: 20 }, (_, i) => ({
      id: `other${i}`,
      body: `Nothing about that, number ${i}.`,
    }))
    const seven = Array.from({ length: 5 }, (_, i) => ({ id: `text${i}`, body: 'All about the zebra.' }))
    const one = made([
      ...filler,
      ...seven,
      { id: 'words', keywords: 'zebra', body: 'All about it.' },
      { id: 'title', title: 'Zebra', body: 'All about it.' },
    ])
    const answers = one.ask('ZEBRA')
    expect(answers.map(({ id }) => id).slice(0, 2)).toEqual(['title', 'words'])
    expect(answers).toHaveLength(5)
    for (const { score } of answers) expect(String(score)).toMatch(/^\d{1,2}(\.\d{1,3})?$/)
    // A word that begins like it, or has a letter wrong, is meant.
    expect([one.ask('zebr')[0]?.id, one.ask('zibra')[0]?.id, one.ask('ze')[0]?.id]).toEqual([
      'title',
      'title',
      undefined,
    ])
  })
  test('counts with its first 24 words', () => {
    const one = made([{ id: 'zebra' }, ...Array.from({ length: 9 }, (_, i) => ({ id: `other${i}` }))])
    const padded = (count: number) => `${'xx '.repeat(count)}zebra`
    expect([one.ask(padded(23)).length, one.ask(padded(24)).length]).toEqual([1, 0])
  })
})

test('a ticket is open, and the newest is listed first', async () => {
  const one = made([])
  const fields = { email: 'a@example.com', subject: 's', body: 'b' }
  const first = await one.open(fields, 'usr_1')
  expect(first).toEqual({ ...fields, id: first.id, userId: 'usr_1', state: 'open', createdAt: 77 })
  const noted: string[] = []
  const second = await one.open({ ...fields, subject: 't' }, null, ({ subject }) => {
    noted.push(subject)
    return []
  })
  expect([second.userId, noted]).toEqual([null, ['t']])
  expect((await one.tickets({ limit: 9 })).items).toEqual([second, first])
})
