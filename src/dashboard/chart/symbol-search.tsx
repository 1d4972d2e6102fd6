// The dialog that changes the symbol. It opens from the bar, with `/`, and by typing on the chart.

import { isFormula, parseSpread, SPREAD_EXCHANGE } from '../../market/spread.ts'
import { continuousName, contractOf } from '../../market/continuous.ts'
import type { SymbolFacts } from '../../wire/bars.ts'
import type { FoundSymbol, SymbolList } from '../../wire/symbol-search.ts'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { nameOf, counted, intervalText, time, count, type Named } from '../format.ts'
import { Combobox } from '../ui/combobox.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Badge, Empty, Failure, messageOf, Progress, Skeleton, toastError, Select } from '../ui/ui.tsx'
import { market, type Market } from '../workspace.ts'
import { loadSymbols, symbols } from './cell.ts'
import { allContinuous, factsOf } from './made-markets.ts'
import s from './chart.module.css'
import { activeCell, comparing, entered, intervalsOf, showMarket, symbolSearch } from './chart-state.ts'
import { addCompared } from './compare-symbols.ts'
import { useEntered } from './entered.ts'
import { FetchSymbol, useFetching } from './fetch-symbol.tsx'
import { useListed } from './listed-symbols.ts'
import { call } from '../api-client.ts'

/** One line of the dialog: a symbol that has bars, one that is made of others, or one that a provider has. */
interface Row extends ReturnType<typeof named> {
  readonly group: string
  readonly note: string
  readonly choose: () => void
}

const close = (): void => {
  symbolSearch.value = null
  comparing.value = false
}

/** On the chart, or laid over it where it is compared. */
function choose(one: SymbolFacts): void {
  const isComparing = comparing.peek()
  close()
  if (isComparing) return addCompared(activeCell.peek(), one)
  const interval = intervalsOf(one).includes(market.value.interval)
    ? market.value.interval
    : (one.series[0]?.interval ?? '1d')
  showMarket({ exchange: one.exchange, symbol: one.symbol, interval })
}

/** What fits what was typed, in at most three groups: one is chosen by arrow keys and Enter. */
function useRows(text: string, fetchIt: ReturnType<typeof useFetching>['fetchIt']) {
  const formula = useMemo(() => formulaOf(symbols.value ?? [], text), [symbols.value, text])
  const matched = useMemo(
    () => (formula ? (formula.facts ? [formula.facts] : []) : matching(symbols.value ?? [], text)),
    [symbols.value, text, formula],
  )
  const listed = useListed(formula ? '' : text)
  // Nothing is compared with itself, or twice.
  const isOffered = (one: Named) => !(comparing.value && isOnChart(one))
  const stored = matched.filter(isOffered).map((one): Row => ({
    ...named(one),
    group: isMade(one) ? 'Made of others' : 'Has bars here',
    note: storedText(one),
    choose: () => choose(one),
  }))
  // A symbol is offered by its exchange and ticker, so what is stored stands once.
  const others = (formula ? [] : listed.found.filter(isOffered)).map((one): Row => ({
    ...named(one),
    group: 'In the lists of providers',
    note: 'Fetched and followed when chosen',
    choose: () => fetchIt({ ...one, interval: market.value.interval }, chooseFetched),
  }))
  const rows = [
    ...stored.filter(({ group }) => group === 'Has bars here'),
    ...stored.filter(({ group }) => group !== 'Has bars here'),
    ...others,
  ]
  return {
    rows,
    listed,
    formula,
    isOnChart: rows.length === 0 && matched.length > 0,
    // Enter may come before the answer of the lists, which is waited for where nothing stored is meant.
    isKnown: symbols.value !== null && (stored.length > 0 || formula !== null || listed.text === text),
  }
}

/** The dialog may have been closed meanwhile, and something else chosen. */
function chooseFetched(fetched: Market): void {
  const facts = factsOf(symbols.peek() ?? [], fetched)
  if (facts && symbolSearch.peek() !== null) choose(facts)
}

const named = (of: Pick<FoundSymbol, 'exchange' | 'symbol' | 'type' | 'description'>) => {
  const { exchange, symbol, type, description } = of
  return { key: nameOf(of), exchange, symbol, type, text: description || symbol }
}

export function SymbolDialog() {
  const text = symbolSearch.value ?? ''
  const [at, setAt] = useState(0)
  const [problem, setProblem] = useState<unknown>(null)
  const load = () => {
    setProblem(null)
    loadSymbols().catch(setProblem)
  }
  useEffect(load, [])
  const { fetching, fetchIt } = useFetching()
  const { rows, listed, formula, isOnChart: isThere, isKnown } = useRows(text, fetchIt)
  useEntered(isKnown, () => rows[at]?.choose())
  return (
    <Dialog title={comparing.value ? 'Compare' : 'Symbol'} onClose={close} width={560}>
      <Combobox
        class={s.searchField}
        value={text}
        placeholder="Symbol, name, exchange, or a formula: BTCUSDT/ETHUSDT"
        aria-label="Symbol, name or exchange"
        list="symbols"
        found={rows.length}
        at={at}
        data-autofocus
        onMove={setAt}
        onText={(typed) => {
          // In upper case, like letters that are typed on the chart.
          symbolSearch.value = typed.toUpperCase()
          entered.value = false
          setAt(0)
        }}
        onEnter={() => (entered.value = true)}
      />
      {problem ? (
        <Failure error={problem} onRetry={load} />
      ) : symbols.value === null ? (
        <div class={s.symbolList} aria-busy="true">
          <Skeleton height={44} />
          <Skeleton height={44} />
        </div>
      ) : formula?.problem ? (
        <Empty title="A formula of symbols">{formula.problem}</Empty>
      ) : isThere ? (
        <Empty title="It is on the chart already">Type another symbol to lay over it.</Empty>
      ) : rows.length === 0 ? (
        <FetchSymbol text={text} onLeave={close} onFetched={showFetched} />
      ) : (
        <SymbolRows rows={rows} at={at} onPoint={setAt} />
      )}
      {fetching && <Progress fraction={fetching.fraction} label={`Fetching ${nameOf(fetching.market)}`} />}
      {symbols.value !== null && <SymbolLists lists={listed.lists} onChosen={listed.search} />}
    </Dialog>
  )
}

function showFetched(fetched: Market): void {
  const facts = comparing.peek() ? factsOf(symbols.peek() ?? [], fetched) : null
  if (facts) return choose(facts)
  close()
  showMarket(fetched)
}

interface RowsProps {
  readonly rows: readonly Row[]
  readonly at: number
  readonly onPoint: (at: number) => void
}

function SymbolRows({ rows, at, onPoint }: RowsProps) {
  const groups = [...new Set(rows.map(({ group }) => group))]
  return (
    <div id="symbols" class={s.symbolList} role="listbox" aria-label="Symbols">
      {groups.map((group) => (
        <div key={group} role="group" aria-label={group}>
          {groups.length > 1 && (
            <div class={s.menuHead} role="presentation">
              {group}
            </div>
          )}
          {rows.map((row, i) =>
            row.group === group ? (
              <div
                key={row.key}
                id={`symbols-${i}`}
                class={s.symbolRow}
                role="option"
                aria-selected={i === at}
                onClick={row.choose}
                onPointerMove={() => onPoint(i)}
              >
                <span class={s.symbolName}>{row.symbol}</span>
                <span class={s.symbolText}>
                  <span>{row.text}</span>
                  <span class="muted">{row.note}</span>
                </span>
                <Badge>{row.type}</Badge>
                <span class="muted">{row.exchange}</span>
              </div>
            ) : null,
          )}
        </div>
      ))}
    </div>
  )
}

function isOnChart(named: Named): boolean {
  const { market: own, compared } = activeCell.value
  return [own.value, ...(compared.value ?? [])].some((one) => nameOf(one) === nameOf(named))
}

const isContinuous = (symbol: string): boolean =>
  continuousName(symbol) !== null && !symbols.peek()?.some((one) => one.symbol === symbol)
const isMade = ({ exchange, symbol }: Named): boolean => exchange === SPREAD_EXCHANGE || isContinuous(symbol)

/** What is stored of a symbol. A spread and a continuous future have no bars of their own. */
function storedText({ exchange, symbol, series }: SymbolFacts): string {
  if (isContinuous(symbol)) return 'Made of its contracts'
  if (exchange === SPREAD_EXCHANGE) {
    const names = series.slice(0, 6).map(({ interval }) => intervalText(interval))
    return names.length === 0 ? 'Its symbols have no interval in common' : `From bars of ${names.join(', ')}`
  }
  const lines = series.slice(0, 4).map(({ interval, count: bars, last }) => {
    return `${intervalText(interval)} · ${counted(bars, 'bar')} to ${time(last, 'UTC', false)}`
  })
  return lines.join('   ')
}

/** What a text with operators means, and what is wrong with it; null = it has none. A symbol may be written without its exchange. */
function formulaOf(all: readonly SymbolFacts[], text: string) {
  const typed = text.trim().toUpperCase()
  // A ticker may have a minus in it.
  if (!isFormula(text) || all.some((one) => nameOf(one).includes(typed))) return null
  const whole = text
    .replaceAll(/"[^"]*"|[^\s+\-*/()"]+/gu, (token) => {
      const name = token.replaceAll('"', '').toUpperCase()
      if (name.includes(':') || /^\d+(\.\d*)?$/.test(name)) return token
      const known = all.find(({ symbol }) => symbol === name)
      const full = known ? nameOf(known) : name
      return /[+\-*/()]/.test(full) ? `"${full}"` : full
    })
    .replaceAll(/\s+/g, '')
  try {
    const { parts } = parseSpread(whole)
    const facts = factsOf(all, { exchange: SPREAD_EXCHANGE, symbol: whole })
    if (facts) return { facts, problem: '' }
    const missing = parts.filter((part) => !factsOf(all, part)).map(nameOf)
    return { facts, problem: `No bars of ${missing.join(' and ')} are cached. Import or fetch them first.` }
  } catch (error) {
    return { facts: null, problem: messageOf(error) }
  }
}

/** Symbols that start with the text first, then those that have it in their name. */
function matching(all: readonly SymbolFacts[], text: string): readonly SymbolFacts[] {
  const wanted = text.trim().toUpperCase()
  const rank = (one: SymbolFacts): number => {
    const full = nameOf(one)
    if (one.symbol === wanted || full === wanted) return 0
    if (one.symbol.startsWith(wanted)) return 1
    if (full.includes(wanted)) return 2
    return one.description.toUpperCase().includes(wanted) ? 3 : 9
  }
  const exact = wanted.includes('!') ? factsOf(all, marketOf(all, wanted)) : null
  const continuous = allContinuous(all)
  const isListed = exact && [...all, ...continuous].some((one) => nameOf(one) === nameOf(exact))
  return [...all, ...continuous, ...(exact && !isListed ? [exact] : [])]
    .filter((one) => rank(one) < 9)
    .sort((a, b) => rank(a) - rank(b) || (a.symbol < b.symbol ? -1 : 1))
    .slice(0, 200)
}

/** The market that a whole name means; without an exchange, that of the first symbol with its root. */
function marketOf(all: readonly SymbolFacts[], name: string) {
  const at = name.indexOf(':')
  if (at >= 0) return { exchange: name.slice(0, at), symbol: name.slice(at + 1) }
  const root = continuousName(name)?.root ?? name
  const found = all.find(({ symbol }) => contractOf(symbol)?.root === root)
  return { exchange: found?.exchange ?? '', symbol: name }
}

function SymbolLists({ lists, onChosen }: { lists: readonly SymbolList[]; onChosen: () => void }) {
  const choose = (provider: string) =>
    call('POST /api/platform/symbols/lists', { body: { provider } }).then(onChosen, toastError)
  const unchosen = lists.filter(({ state }) => state === 'unchosen')
  const said = lists.map(saidOf).filter((text) => text !== '')
  if (lists.length === 0) return null
  return (
    <div class={s.lists}>
      {said.length > 0 && <p class="muted">Lists of symbols: {said.join(' · ')}</p>}
      {unchosen.length > 0 && (
        <>
          <p class="muted">A provider is asked from here on once you choose it, and not before.</p>
          <Select
            label="Search the list of a provider, too"
            value=""
            options={[
              ['', 'Choose a provider'],
              ...unchosen.map((one) => [one.provider, one.provider] as const),
            ]}
            onChange={(provider) => provider !== '' && void choose(provider)}
          />
        </>
      )}
    </div>
  )
}

function saidOf({ provider, state, count: known, lastError }: SymbolList): string {
  if (state === 'ready') return `${provider} ${count(known)}`
  if (state === 'failed') return `${provider}: ${lastError ?? 'not there'}`
  if (state === 'fetching')
    return known === 0 ? `${provider} is fetched …` : `${provider} ${count(known)} so far …`
  return state === 'waiting' ? `${provider} …` : ''
}
