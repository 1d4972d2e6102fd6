// What the palette lists: commands, symbols, indicators, stored objects and help, as far as they fit what was typed.

import { timeOfId } from '../../lib/ids.ts'
import { plainText } from '../../lib/markdown.ts'
import type { Hit } from '../../wire/search.ts'
import type { ArticleHead as Article } from '../../wire/support.ts'
import { commands, keysOf } from '../commands.ts'
import { openScript } from '../editor/documents.ts'
import { ago, intervalText } from '../format.ts'
import { openReport } from '../open-report.ts'
import { asSubject, editedSubject } from '../research/subject.ts'
import { subjectItems } from '../research/subject-menu.ts'
import { navigate } from '../router.ts'
import { user } from '../session.ts'
import type { LibraryIndicator } from '../studies/library.ts'
import { addStudy } from '../studies/studies.ts'
import type { IconName } from '../ui/icon.tsx'
import type { SymbolFacts } from '../watchlists/quotes.ts'
import { alertAt } from '../workspace.ts'
import { attempt } from './page.tsx'
import { ranked } from './palette-model.ts'
import { showOnChart } from './show-on-chart.ts'

export interface Item {
  readonly key: string
  readonly group: string
  readonly icon: IconName
  readonly title: string
  readonly at: readonly number[]
  readonly note?: string
  readonly side?: string
  readonly keys?: string
  readonly run: () => void
}

/** What there is to choose from; all but commands come from the server, a moment after the palette. */
export interface Offered {
  readonly symbols: readonly SymbolFacts[]
  readonly indicators: readonly LibraryIndicator[]
  readonly articles: readonly Article[]
  readonly hits: readonly Hit[]
  readonly fitting: readonly Article[]
}

const ARTICLES_MAX = 4
const SECTION_ICONS: Readonly<Record<string, IconName>> = {
  'Go to': 'external',
  Chart: 'candles',
  Drawing: 'note',
  Script: 'code',
  Report: 'report',
  Replay: 'replay',
  Alerts: 'bell',
  Settings: 'settings',
}
/** In their order. */
const HITS = [
  ['backtest', 'Backtests', 'report'],
  ['script', 'Scripts', 'code'],
  ['idea', 'Ideas', 'bulb'],
  ['watchlist', 'Watchlists', 'list'],
] as const

/** Makes the items of one group. */
const itemOf =
  (group: string, icon: IconName) =>
  (key: string, title: string, run: () => void, more: Partial<Item> = {}): Item => ({
    key,
    group,
    icon,
    title,
    at: [],
    run,
    ...more,
  })

export function itemsFor(query: string, { symbols, indicators, articles, hits, fitting }: Offered): Item[] {
  const typed = query.trim()
  // Short words are mostly symbols, longer ones commands.
  const first =
    typed.length <= 4
      ? [...symbolItems(query, symbols), ...commandItems(query)]
      : [...commandItems(query), ...symbolItems(query, symbols)]
  if (typed === '') return first
  // A user who types an indicator's short name means that indicator.
  const isNamed = (one: LibraryIndicator) => one.shortTitle.toLowerCase().startsWith(typed.toLowerCase())
  const { true: named = [], false: others = [] } = Object.groupBy(indicators, (one) => `${isNamed(one)}`)
  return [
    ...indicatorItems(query, named),
    ...first,
    ...scriptItems(query),
    ...indicatorItems(query, others),
    ...alertItems(named),
    ...hitItems(hits),
    ...articleItems(query, articles, fitting),
  ]
}

function symbolItems(query: string, symbols: readonly SymbolFacts[]): Item[] {
  const textOf = (one: SymbolFacts) => `${one.symbol} ${one.exchange} ${one.description}`
  const found = ranked(symbols, query, textOf, query.trim() === '' ? 4 : 6)
  const made = itemOf('Symbols', 'chart')
  return found.map(({ item: { exchange, symbol, description, series }, match }) => {
    const daily = series.find(({ interval }) => interval === '1d')
    const { interval } = daily ?? series[0] ?? { interval: '1d' }
    const at = match.at.filter((i) => i < symbol.length)
    const run = () => showOnChart({ exchange, symbol, interval })
    return made(`symbol:${exchange}:${symbol}`, symbol, run, { at, note: description, side: exchange })
  })
}

function commandItems(query: string): Item[] {
  const isAll = query.trim() === ''
  const available = commands.value.filter((one) => one.id !== 'palette' && (one.when?.() ?? true))
  return ranked(available, query, (one) => one.title, isAll ? 40 : 8).map(({ item, match: { at } }) => {
    const made = itemOf(isAll ? item.section : 'Commands', SECTION_ICONS[item.section] ?? 'play')
    return made(`command:${item.id}`, item.title, item.run, { at, keys: keysOf(item) })
  })
}

/** What can be done with the script in the editor, as in its menus. */
function scriptItems(query: string): Item[] {
  const subject = editedSubject()
  return ranked(subjectItems(subject, 'editor'), query, (one) => one.text, 4).map(
    ({ item: { text, icon = 'code', run }, match: { at } }) =>
      itemOf('Script in the editor', icon)(`script:${text}`, text, run, { at, note: subject.name }),
  )
}

const alertItems = (some: readonly LibraryIndicator[]): Item[] =>
  some.slice(0, 2).map(({ id, title, shortTitle, source }) => {
    const subject = asSubject({ id: `library:${id}`, name: title, kind: 'indicator', source })
    const run = () => (alertAt.value = { subject })
    return itemOf('Alerts', 'bell')(`alert:${id}`, `Alert on ${shortTitle}…`, run, { note: title })
  })

const indicatorItems = (query: string, some: readonly LibraryIndicator[]): Item[] =>
  ranked(some, query, (one) => `${one.shortTitle} ${one.title} ${one.also}`, 5).map(
    ({ item: { id, title, shortTitle, source } }) => {
      const run = () => {
        addStudy({ name: title, shortName: shortTitle, source, from: `library:${id}` })
        if (!location.pathname.includes('/chart')) navigate('/')
      }
      const more = { note: 'Put it on the chart', side: shortTitle }
      return itemOf('Indicators', 'code')(`indicator:${id}`, title, run, more)
    },
  )

const hitItems = (hits: readonly Hit[]): Item[] =>
  HITS.flatMap(([type, group, icon]) =>
    hits
      .filter((one) => one.type === type)
      .map((hit) => {
        const more = { note: noteOf(hit), ...sideOf(hit) }
        return itemOf(group, icon)(`${type}:${hit.id}`, hit.title, () => openHit(hit), more)
      }),
  )

/** Articles are found by their titles, and where no title fits, by their text. */
function articleItems(query: string, articles: readonly Article[], fitting: readonly Article[]): Item[] {
  const item = ({ id, title }: Article, at: readonly number[]) =>
    itemOf('Help', 'help')(`help:${id}`, title, () => navigate(`/help/${id}`), { at })
  const titled = ranked(articles, query, (one) => one.title, ARTICLES_MAX)
  return titled.length > 0
    ? titled.map(({ item: one, match }) => item(one, match.at))
    : fitting.slice(0, ARTICLES_MAX).map((one) => item(one, []))
}

/** Runs of one script share a name, so their dates tell them apart; scripts of others are told apart by author. */
function sideOf({ type, id, symbol, author }: Hit): { side?: string } {
  const made = type === 'backtest' ? timeOfId(id) : null
  if (made !== null) return { side: ago(made) }
  if (type === 'script') return author === user.value?.name ? {} : { side: author }
  return symbol === null ? {} : { side: symbol }
}

/** A snippet without Markdown's marks. */
function noteOf({ type, snippet, symbol, tags }: Hit): string {
  if (type === 'idea') return plainText(snippet, 140)
  if (type === 'backtest') return `${tags[0]}:${symbol} ${intervalText(tags[1] ?? '')}`
  return snippet.replace(/\/\/@version=\d\s*/, '').replace(/(^|\s)\/\/\s?/g, '$1')
}

function openHit({ type, id, author }: Hit): void {
  if (type === 'idea') navigate(`/ideas/${id}`)
  else if (type === 'watchlist') navigate(`/markets/${id}`)
  // The caller's own script opens on the chart, another user's on a page where it can be read first.
  else if (type === 'script' && author === user.value?.name) attempt(openScript(id), () => navigate('/'))
  else if (type === 'script') navigate(`/research/${id}`)
  else attempt(openReport(id))
}
