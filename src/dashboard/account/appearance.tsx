// Settings of the page's look. They are stored in this browser, so another one starts with the defaults.

import type { ComponentChildren } from 'preact'
import { palette, themeChoice, timezone, tourDone } from '../settings.ts'
import { Button, Select } from '../ui/ui.tsx'
import { navigate } from '../router.ts'
import s from './settings.module.css'
import { Section } from '../frame/section.tsx'

const SYSTEM = 'system'
const THEMES = [
  [SYSTEM, 'System', ['#0f1216', '#222933', '#d6dae1']],
  ['dark', 'Dark', ['#0f1216', '#222933', '#d6dae1']],
  ['light', 'Light', ['#ffffff', '#e0e4ea', '#1a2029']],
] as const
const PALETTES = [
  ['green-red', 'Green and red', ['#2fbf8f', '#f0616d']],
  ['blue-orange', 'Blue and orange', ['#4aa3ff', '#f08a3c']],
] as const
const BARS = [
  [12, 30, 1],
  [26, 34, 0],
  [40, 22, 1],
  [54, 18, 1],
  [68, 26, 0],
  [82, 12, 1],
  [96, 8, 1],
] as const

export function Appearance() {
  const zones = ['', 'UTC', ...Intl.supportedValuesOf('timeZone')]
  return (
    <>
      <Section title="Theme">
        <p>System follows your computer or phone from dark to light and back. Kept in this browser.</p>
        <div class={s.themes}>
          {THEMES.map(([id, name, [surface, line, text]]) => (
            <Look key={id} id={id} name={name} of={themeChoice} height={84}>
              <rect width="150" height="84" fill={surface} stroke={line} />
              <path d="M0 16h150M16 16v68" stroke={line} />
              {id === SYSTEM && <path d="M150 0v84h-150z" fill="#ffffff" />}
              <path d="M26 8h30" stroke={text} stroke-width="3" stroke-linecap="round" opacity="0.7" />
              <Candles at="24 26" up="#2fbf8f" down="#f0616d" />
            </Look>
          ))}
        </div>
      </Section>
      <Section title="Up and down" about="Blue and orange can be told apart by nearly everybody.">
        <div class={s.themes}>
          {PALETTES.map(([id, name, [up, down]]) => (
            <Look key={id} id={id} name={name} of={palette} height={60}>
              <Candles at="20 6" up={up} down={down} />
            </Look>
          ))}
        </div>
      </Section>
      <Section class={s.form} title="Time zone" about="Of charts, reports and lists of trades.">
        <Select
          label="Time zone"
          hideLabel
          value={timezone.value}
          options={zones.map((zone) => [zone, zone === '' ? 'The exchange’s own' : zone] as const)}
          onChange={(zone) => (timezone.value = zone)}
        />
      </Section>
      <Section title="Tour" about="The four steps that are shown at the first start.">
        <Button onClick={showTour}>Show the tour</Button>
      </Section>
    </>
  )
}

function showTour(): void {
  tourDone.value = false
  navigate('/')
}

interface LookProps<T extends string> {
  readonly id: T
  readonly name: string
  /** The setting that it is one of. */
  readonly of: { value: T }
  readonly height: number
  readonly children: ComponentChildren
}

/** A way to look, as a picture that chooses it. */
const Look = <T extends string>({ id, name, of, height, children }: LookProps<T>) => (
  <button type="button" class={s.theme} aria-pressed={of.value === id} onClick={() => (of.value = id)}>
    <svg width="150" height={height} viewBox={`0 0 150 ${height}`} aria-hidden="true">
      {children}
    </svg>
    <span>{name}</span>
  </button>
)

const Candles = ({ at, up, down }: { at: string; up: string; down: string }) => (
  <g transform={`translate(${at})`}>
    {BARS.map(([x, y, rising]) => (
      <g key={x} fill={rising ? up : down} stroke={rising ? up : down}>
        <line x1={x} x2={x} y1={y - 4} y2={y + 18} />
        <rect x={x - 4} y={y} width="8" height="12" rx="1" stroke="none" />
      </g>
    ))}
  </g>
)
