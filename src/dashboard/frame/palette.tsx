// The palette (⌘K): commands, symbols, stored objects, help. Commands and symbols are found at once, the server's results a
// moment later.

import type { ArticleHead as Article } from '../../wire/support.ts'
import type { Hit } from '../../wire/search.ts'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { timeOfId } from '../../lib/ids.ts'
import { watchBackup } from '../account/watch-backup.ts'
import { call } from '../api-client.ts'
import { commands, keysOf } from '../commands.ts'
import { keyText } from '../keys.ts'
import { openScript } from '../editor/documents.ts'
import { ago, intervalText } from '../format.ts'
import { paletteOpen, typedAhead } from './overlays.ts'
import { navigate } from '../router.ts'
import { openReport } from '../open-report.ts'
import { user } from '../session.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { plainText } from '../../lib/markdown.ts'
import { attempt } from './page.tsx'
import type { LibraryIndicator } from '../studies/library.ts'
import { addStudy } from '../studies/studies.ts'
import { ranked } from './palette-model.ts'
import s from './palette.module.css'
import { allSymbols, type SymbolFacts } from '../watchlists/quotes.ts'
import { showOnChart } from './show-on-chart.ts'

// The first page has no room for it, and this file comes a moment after it whatever happens.
watchBackup()

interface Item {
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

const ASK_DELAY_MS = 90
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
const HIT_ICONS = { script: 'code', idea: 'bulb', backtest: 'report', watchlist: 'list' } as const
const HIT_GROUPS = {
  script: 'Scripts',
  idea: 'Ideas',
  backtest: 'Backtests',
  watchlist: 'Watchlists',
} as const

export function Palette() {
  const [query, setQuery] = useState(typedAhead.peek())
  const [hits, setHits] = useState<readonly Hit[]>([])
  const [symbols, setSymbols] = useState<readonly SymbolFacts[]>([])
  const [articles, setArticles] = useState<readonly Article[]>([])
  /** Those whose text fits the query. */
  const [fitting, setFitting] = useState<readonly Article[]>([])
  const [indicators, setIndicators] = useState<readonly LibraryIndicator[]>([])
  /** Key of the item one has chosen: it stays so when answers come. Null = the first, whichever that is. */
  const [selected, setSelected] = useState<string | null>(null)
  const list = useRef<HTMLDivElement>(null)
  const box = useRef<HTMLDivElement>(null)
  // Asked before its own field takes the focus, which an effect would find there.
  const [before] = useState(() => document.activeElement as HTMLElement | null)
  const close = () => (paletteOpen.value = false)

  useEffect(() => {
    const quiet = () => undefined
    allSymbols().then(setSymbols, quiet)
    import('../studies/library.ts').then(({ LIBRARY }) => setIndicators(LIBRARY), quiet)
    call('GET /api/support/articles').then((answer) => setArticles(answer.articles), quiet)
    return () => {
      // What was chosen may have taken the focus to where it belongs now.
      const { activeElement: now, body } = document
      if (now === null || now === body || box.current?.contains(now)) before?.focus()
    }
  }, [])

  useEffect(() => {
    const text = query.trim()
    if (text === '') {
      setHits([])
      setFitting([])
      return undefined
    }
    const abort = new AbortController()
    const timer = setTimeout(() => {
      const q = text.slice(0, 256)
      // When the server does not answer, commands and symbols are still found.
      const quiet = () => undefined
      call('GET /api/search', { query: { q, limit: 12 }, signal: abort.signal }).then(
        (answer) => setHits(answer.results),
        quiet,
      )
      call('GET /api/support/articles', { query: { q }, signal: abort.signal }).then(
        (answer) => setFitting(answer.articles),
        quiet,
      )
    }, ASK_DELAY_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [query])

  const items = useMemo(
    () => itemsFor(query, hits, symbols, articles, fitting, indicators),
    [query, hits, symbols, articles, fitting, indicators, commands.value],
  )
  const at = Math.max(
    0,
    items.findIndex(({ key }) => key === selected),
  )
  const run = (item: Item | undefined) => {
    if (!item) return
    close()
    item.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (event.key === 'Escape') close()
    else if (event.key === 'Enter') run(items[at])
    else if (event.key === 'Tab' || step !== 0) {
      const move = step !== 0 ? step : event.shiftKey ? -1 : 1
      const next = (at + move + items.length) % Math.max(1, items.length)
      setSelected(items[next]?.key ?? null)
      list.current?.querySelector(`#palette-${next}`)?.scrollIntoView({ block: 'nearest' })
    } else return
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    <div class={s.backdrop} onMouseDown={(event) => event.target === event.currentTarget && close()}>
      <div
        ref={box}
        class={s.box}
        role="dialog"
        aria-modal="true"
        aria-label="Search everything"
        onKeyDown={onKeyDown}
      >
        <div class={s.query}>
          <Icon name="search" />
          <input
            ref={(element) => element?.focus()}
            role="combobox"
            aria-label="Search"
            aria-expanded="true"
            aria-controls="palette-list"
            aria-activedescendant={items.length > 0 ? `palette-${at}` : undefined}
            placeholder="Symbol, command, script, backtest, idea, help…"
            value={query}
            maxLength={256}
            autocomplete="off"
            spellcheck={false}
            // Set both together: resetting the selection in an effect could undo an arrow key pressed right after the letter.
            onInput={(event) => {
              setSelected(null)
              setQuery(event.currentTarget.value)
            }}
          />
        </div>
        <div ref={list} id="palette-list" class={s.results} role="listbox" aria-label="Results" tabIndex={-1}>
          {items.length === 0 && <p class={s.none}>Nothing fits “{query}”.</p>}
          {items.map((item, i) => (
            <div key={item.key} role="presentation">
              {item.group !== items[i - 1]?.group && (
                <div class={s.group} role="presentation">
                  {item.group}
                </div>
              )}
              <div
                id={`palette-${i}`}
                class={s.item}
                role="option"
                aria-selected={i === at}
                onMouseMove={() => i !== at && setSelected(item.key)}
                onClick={() => run(item)}
              >
                <Icon name={item.icon} />
                <span>
                  <span class={s.title}>
                    <Marked text={item.title} at={item.at} />
                  </span>
                  {item.note && <small>{item.note}</small>}
                </span>
                {item.keys ? <kbd>{keyText(item.keys)}</kbd> : <span class={s.side}>{item.side}</span>}
              </div>
            </div>
          ))}
        </div>
        <div class={s.foot} aria-hidden="true">
          <span>↑ ↓ choose</span>
          <span>Enter open</span>
          <span>Esc close</span>
        </div>
      </div>
    </div>
  )
}

function Marked({ text, at }: { readonly text: string; readonly at: readonly number[] }) {
  if (at.length === 0) return <>{text}</>
  const marked = new Set(at)
  const parts: ComponentChildren[] = []
  for (let i = 0; i < text.length;) {
    const hit = marked.has(i)
    let end = i + 1
    while (end < text.length && marked.has(end) === hit) end++
    parts.push(hit ? <b key={i}>{text.slice(i, end)}</b> : text.slice(i, end))
    i = end
  }
  return <>{parts}</>
}

function itemsFor(
  query: string,
  hits: readonly Hit[],
  symbols: readonly SymbolFacts[],
  articles: readonly Article[],
  fitting: readonly Article[],
  indicators: readonly LibraryIndicator[],
): Item[] {
  const empty = query.trim() === ''
  const available = commands.value.filter((one) => one.id !== 'palette' && (one.when?.() ?? true))
  const found: Item[] = []
  const addSymbols = () => {
    for (const { item, match } of ranked(
      symbols,
      query,
      (one) => `${one.symbol} ${one.exchange} ${one.description}`,
      empty ? 4 : 6,
    ))
      found.push({
        key: `symbol:${item.exchange}:${item.symbol}`,
        group: 'Symbols',
        icon: 'chart',
        title: item.symbol,
        at: match.at.filter((i) => i < item.symbol.length),
        note: item.description,
        side: item.exchange,
        run: () => {
          const intervals = item.series.map((one) => one.interval)
          const interval = intervals.includes('1d') ? '1d' : (intervals[0] ?? '1d')
          showOnChart({ exchange: item.exchange, symbol: item.symbol, interval })
        },
      })
  }
  const addCommands = () => {
    for (const { item, match } of ranked(available, query, (one) => one.title, empty ? 40 : 8))
      found.push({
        key: `command:${item.id}`,
        group: empty ? item.section : 'Commands',
        icon: SECTION_ICONS[item.section] ?? 'play',
        title: item.title,
        at: match.at,
        keys: keysOf(item),
        run: item.run,
      })
  }
  const addIndicators = (some: readonly LibraryIndicator[]) => {
    const words = (one: LibraryIndicator) => `${one.shortTitle} ${one.title} ${one.also}`
    for (const { item } of ranked(some, query, words, 5))
      found.push({
        key: `indicator:${item.id}`,
        group: 'Indicators',
        icon: 'code',
        title: item.title,
        at: [],
        note: 'Put it on the chart',
        side: item.shortTitle,
        run: () => {
          addStudy({
            name: item.title,
            shortName: item.shortTitle,
            source: item.source,
            from: `library:${item.id}`,
          })
          if (!location.pathname.includes('/chart')) navigate('/')
        },
      })
  }
  const addArticle = (item: Article, at: readonly number[]) =>
    found.push({
      key: `help:${item.id}`,
      group: 'Help',
      icon: 'help',
      title: item.title,
      at,
      run: () => navigate(`/help/${item.id}`),
    })
  // A user who types an indicator's short name means that indicator.
  const named = (one: LibraryIndicator) => one.shortTitle.toLowerCase().startsWith(query.trim().toLowerCase())
  if (!empty) addIndicators(indicators.filter(named))
  // Short words are mostly symbols, longer ones commands.
  if (empty || query.trim().length <= 4) {
    addSymbols()
    addCommands()
  } else {
    addCommands()
    addSymbols()
  }
  if (empty) return found
  addIndicators(indicators.filter((one) => !named(one)))
  for (const type of ['backtest', 'script', 'idea', 'watchlist'] as const)
    for (const hit of hits.filter((one) => one.type === type))
      found.push({
        key: `${hit.type}:${hit.id}`,
        group: HIT_GROUPS[type],
        icon: HIT_ICONS[type],
        title: hit.title,
        at: [],
        note: noteOf(hit),
        ...sideOf(hit),
        run: () => openHit(hit),
      })
  // Articles are found by their titles, and where no title fits, by their text.
  const titled = ranked(articles, query, (one) => one.title, ARTICLES_MAX)
  for (const { item, match } of titled) addArticle(item, match.at)
  if (titled.length === 0) for (const item of fitting.slice(0, ARTICLES_MAX)) addArticle(item, [])
  return found
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
  else if (type === 'watchlist') navigate(`/watchlists/${id}`)
  // The caller's own script opens on the chart, another user's on a page where it can be read first.
  else if (type === 'script' && author === user.value?.name) attempt(openScript(id).then(() => navigate('/')))
  else if (type === 'script') navigate(`/scripts/${id}`)
  else attempt(openReport(id))
}
