// What a form is about, as chips on top of it that can be changed: the script, its version, market, interval and range.

import { useEffect, useId, useState } from 'preact/hooks'
import { normalizeInterval } from '../../market/interval.ts'
import { call } from '../api-client.ts'
import { asOfText } from '../as-of.ts'
import { count, intervalText } from '../format.ts'
import { runBars } from '../run-script.ts'
import { allSymbols } from '../watchlists/quotes.ts'
import { market } from '../workspace.ts'
import s from './research.module.css'
import type { Subject } from './subject.ts'

const RANGES = [500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 500_000, 2_000_000]

export interface About {
  readonly source: string
  readonly exchange: string
  readonly symbol: string
  readonly interval: string
  readonly bars: number
}

interface AboutState extends About {
  readonly change: (part: Partial<About>) => void
}

/** Begins with the market on the active chart and the range of its runs. */
export function useAbout({ source }: Subject): AboutState {
  const [about, setAbout] = useState<About>(() => ({ source, ...market.peek(), bars: runBars.peek() }))
  return { ...about, change: (part) => setAbout((before) => ({ ...before, ...part })) }
}

interface ChipsProps {
  readonly subject: Subject
  readonly about: AboutState
  /** A scan has a list of markets and a forward run no end: those chips are left out. */
  readonly without?: readonly ('market' | 'bars')[]
}

export function AboutChips({ subject, about, without = [] }: ChipsProps) {
  const { exchange, symbol, interval, bars, change } = about
  return (
    <div class={s.chips} role="group" aria-label="What it is about">
      <span class={s.chip}>
        <small>Script</small>
        {subject.name}
      </span>
      <Version subject={subject} about={about} />
      {!without.includes('market') && (
        <MarketChip name={`${exchange}:${symbol}`} onChange={(next) => change(next)} />
      )}
      <TextChip
        label="Interval"
        value={intervalText(interval)}
        onChange={(text) => change({ interval: normalizeInterval(text) ?? text })}
      />
      {subject.asOf !== undefined && (
        <span class={s.chip}>
          <small>Rules</small>
          {asOfText(subject.asOf)}
        </span>
      )}
      {!without.includes('bars') && (
        <label class={s.chip}>
          <small>Range</small>
          <select
            value={String(bars)}
            onChange={(event) => change({ bars: Number(event.currentTarget.value) })}
          >
            {[...new Set([...RANGES, bars])]
              .toSorted((a, b) => a - b)
              .map((one) => (
                <option key={one} value={String(one)}>
                  last {count(one)} bars
                </option>
              ))}
          </select>
        </label>
      )}
    </div>
  )
}

interface TextChipProps {
  readonly label: string
  readonly value: string
  readonly offered?: readonly string[]
  readonly onChange: (text: string) => void
}

function TextChip({ label, value, offered, onChange }: TextChipProps) {
  const id = useId()
  return (
    <label class={s.chip}>
      <small>{label}</small>
      <input
        value={value}
        size={Math.max(3, value.length)}
        list={offered && id}
        autocomplete="off"
        spellcheck={false}
        onChange={(event) => onChange(event.currentTarget.value.trim())}
      />
      {offered && (
        <datalist id={id}>
          {offered.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </label>
  )
}

function MarketChip({
  name,
  onChange,
}: {
  readonly name: string
  readonly onChange: (market: Pick<About, 'exchange' | 'symbol'>) => void
}) {
  const [known, setKnown] = useState<readonly string[]>([])
  useEffect(() => {
    allSymbols().then(
      (all) => setKnown(all.map((one) => `${one.exchange}:${one.symbol}`)),
      () => undefined,
    )
  }, [])
  const choose = (text: string) => {
    const typed = text.toUpperCase()
    const full = known.find((one) => one === typed || one.endsWith(`:${typed}`)) ?? typed
    const colon = full.indexOf(':')
    onChange({ exchange: full.slice(0, Math.max(0, colon)), symbol: full.slice(colon + 1) })
  }
  return <TextChip label="Market" value={name} offered={known} onChange={choose} />
}

/** The versions of a script of one's own; of others there is only the one that is shown. */
function Version({ subject: { id, stored, source }, about }: Pick<ChipsProps, 'subject' | 'about'>) {
  const [revisions, setRevisions] = useState<
    readonly { readonly revision: number; readonly source: string }[]
  >([])
  useEffect(() => {
    if (!stored?.mine) return
    call('GET /api/platform/scripts/{id}/revisions', { path: { id } }).then(
      (answer) => setRevisions(answer.revisions),
      () => undefined,
    )
  }, [id])
  if (!stored)
    return (
      <span class={s.chip}>
        <small>Version</small>
        {id === 'editor' ? 'as in the editor' : 'built in'}
      </span>
    )
  if (revisions.length < 2)
    return (
      <span class={s.chip}>
        <small>Version</small>
        {stored.revision}
      </span>
    )
  const now = revisions.find((one) => one.source === about.source)
  return (
    <label class={s.chip}>
      <small>Version</small>
      <select
        value={String(now?.revision ?? stored.revision)}
        onChange={(event) => {
          const chosen = revisions.find(({ revision }) => String(revision) === event.currentTarget.value)
          about.change({ source: chosen?.source ?? source })
        }}
      >
        {revisions.map(({ revision }) => (
          <option key={revision} value={String(revision)}>
            {revision}
            {revision === stored.revision ? ', the newest' : ''}
          </option>
        ))}
      </select>
    </label>
  )
}
