// What a form is about, as chips on top of it that can be changed: the script, its version, market, interval and range.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { normalizeInterval } from '../../market/interval.ts'
import { call } from '../api-client.ts'
import { asOfText } from '../as-of.ts'
import { count, intervalText } from '../format.ts'
import { useLoad } from '../frame/page.tsx'
import { runBars } from '../run-script.ts'
import { TypedInput } from '../ui/typed-input.tsx'
import { Choice } from '../ui/ui.tsx'
import { allSymbols, namedBy, namesOfAll } from '../watchlists/quotes.ts'
import { market, type Market } from '../workspace.ts'
import s from './research.module.css'
import { EDITOR, type Subject } from './subject.ts'

const RANGES = [500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 500_000, 2_000_000]

export interface About extends Market {
  readonly source: string
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

/** How many bars of the series there are; null while that is not known, and where it is built from finer ones. */
export function useCached({ exchange, symbol, interval }: About): number | null {
  const known = useLoad(allSymbols, [exchange, symbol, interval]).data
  const series = known?.find((one) => one.exchange === exchange && one.symbol === symbol)?.series ?? []
  const all = series.filter((one) => one.interval === interval)
  // One's own is found before a shared one of the same name.
  return (all.find(({ shared }) => !shared) ?? all[0])?.count ?? null
}

interface ChipsProps {
  readonly subject: Subject
  readonly about: AboutState
  /** A scan has a list of markets and a forward run no end: those chips are left out. */
  readonly without?: readonly ('market' | 'bars')[]
}

const Chip = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <label class={s.chip}>
    <small>{label}</small>
    {children}
  </label>
)

export function AboutChips({ subject, about, without = [] }: ChipsProps) {
  const { exchange, symbol, interval, bars, change } = about
  const cached = useCached(about) ?? Infinity
  const all = bars >= cached ? bars : RANGES.find((one) => one >= cached)
  const ranges = [...new Set([...RANGES, bars])].toSorted((a, b) => a - b)
  return (
    <div class={s.chips} role="group" aria-label="What it is about">
      <Chip label="Script">{subject.name}</Chip>
      <Version subject={subject} about={about} />
      {!without.includes('market') && <MarketChip name={`${exchange}:${symbol}`} onChange={change} />}
      <TextChip
        label="Interval"
        value={intervalText(interval)}
        onChange={(text) => change({ interval: normalizeInterval(text) ?? text })}
      />
      {subject.asOf !== undefined && <Chip label="Rules">{asOfText(subject.asOf)}</Chip>}
      {!without.includes('bars') && (
        <Chip label="Range">
          <Choice
            class={undefined}
            value={String(bars)}
            options={ranges
              .filter((one) => one < cached || one === all)
              .map((one) => [
                String(one),
                one < cached ? `last ${count(one)} bars` : `all ${count(cached)} bars`,
              ])}
            onChange={(one) => change({ bars: Number(one) })}
          />
        </Chip>
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
    <Chip label={label}>
      <TypedInput
        value={value}
        size={Math.max(3, value.length)}
        list={offered && id}
        autocomplete="off"
        spellcheck={false}
        onTyped={(text) => onChange(text.trim())}
      />
      {offered && (
        <datalist id={id}>
          {offered.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </Chip>
  )
}

interface MarketChipProps {
  readonly name: string
  readonly onChange: (market: Pick<About, 'exchange' | 'symbol'>) => void
}

function MarketChip({ name, onChange }: MarketChipProps) {
  const known = useLoad(namesOfAll, []).data
  const choose = (text: string) => onChange(namedBy(text, known ?? []))
  // A symbol may be typed before those are there that say where it is.
  useEffect(() => {
    if (known && name.startsWith(':')) choose(name.slice(1))
  }, [known])
  return <TextChip label="Market" value={name} offered={known ?? []} onChange={choose} />
}

/** The versions of a script of one's own; of others there is only the one that is shown. */
function Version({ subject: { id, stored, source }, about }: Pick<ChipsProps, 'subject' | 'about'>) {
  const isOwn = stored?.mine === true
  const loaded = useLoad(
    async () => isOwn && (await call('GET /api/platform/scripts/{id}/revisions', { path: { id } })),
    [id],
    { ofOne: true },
  )
  const { revisions } = loaded.data || { revisions: [] }
  if (!stored) return <Chip label="Version">{id === EDITOR ? 'as in the editor' : 'built in'}</Chip>
  if (revisions.length < 2) return <Chip label="Version">{stored.revision}</Chip>
  const now = revisions.find((one) => one.source === about.source)
  return (
    <Chip label="Version">
      <Choice
        class={undefined}
        value={String(now?.revision ?? stored.revision)}
        options={revisions.map(({ revision }) => [
          String(revision),
          `${revision}${revision === stored.revision ? ', the newest' : ''}`,
        ])}
        onChange={(chosen) => {
          const found = revisions.find(({ revision }) => String(revision) === chosen)
          about.change({ source: found?.source ?? source })
        }}
      />
    </Chip>
  )
}
