import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { idSource } from '../../src/lib/ids.ts'
import { testKv } from '../store/test-store.ts'
import { createSupport, parseArticle } from '../../src/support/support.ts'

const folder = `${import.meta.dir}/../../src/support/articles`
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
  test('are forty at least, each with title, keywords and text', () => {
    expect(articles.length).toBeGreaterThanOrEqual(40)
    expect(articles.filter(({ title, keywords, body }) => !title || !keywords || body.length < 100)).toEqual(
      [],
    )
  })
  test('link to articles that exist', () => {
    const names = new Set(articles.map((article) => article.id))
    const links = articles.flatMap(({ id, body }) =>
      [...body.matchAll(/\]\(([a-z-]+)\)/g)].map((match) => [id, match[1] ?? ''] as const),
    )
    expect(links.filter(([, target]) => !names.has(target))).toEqual([])
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
