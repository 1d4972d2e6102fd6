// Why a run differs from TradingView's list of trades, and a button to run it with settings that agree.

import { useState } from 'preact/hooks'
import type { Explanation } from '../../wire/explanation.ts'
import { href } from '../router.ts'
import { zone } from '../chart/chart-state.ts'
import { count, time as timeText } from '../format.ts'
import { attempt } from '../frame/page.tsx'
import { FACTS } from '../markets/facts.ts'
import { rerunWith } from '../run-script.ts'
import { Button, Said } from '../ui/ui.tsx'
import { isRunnable } from './comparing.ts'
import s from './report.module.css'

const OTHERS_SHOWN = 5

export function WhyItDiffers({ found, onRun }: { readonly found: Explanation; readonly onRun: () => void }) {
  const [busy, setBusy] = useState(false)
  const { causes, overrides, inputs, bars, asOf, symbol, tried, notes } = found
  const canRun = isRunnable(found)
  const others = tried.filter(({ kind }) => !causes.some((cause) => cause.kind === kind))
  return (
    <section class={s.why} aria-label="Why it differs">
      <h4>Why it differs</h4>
      <p>
        <Said text={found.message} />
      </p>
      {causes.length > 0 && (
        <ul>
          {causes.map(({ message, since }) => (
            <li key={message}>
              {/* A single one stands in the sentence above. */}
              {causes.length > 1 && `${message} · `}
              {since
                ? `first seen on bar ${count(since.bar)}, ${timeText(since.time, zone.value, true)}`
                : 'seen on no bar by itself'}
            </li>
          ))}
        </ul>
      )}
      {canRun && (
        <Button
          size="small"
          icon="play"
          disabled={busy}
          onClick={() => {
            setBusy(true)
            attempt(
              rerunWith(overrides, bars, asOf, { inputs }).finally(() => setBusy(false)),
              onRun,
            )
          }}
        >
          Run with these settings
        </Button>
      )}
      {Object.keys(symbol).length > 0 && (
        <p>
          Facts of the symbol are changed under <a href={href('/markets/sources')}>Markets, Sources</a>:{' '}
          {FACTS.filter(([name]) => symbol[name] !== undefined)
            .map(([name, label]) => `${label} ${symbol[name]}`)
            .join(', ')}
          .
        </p>
      )}
      {others.length > 0 && (
        <details>
          <summary>What brings it nearer by itself</summary>
          <ul>
            {others.slice(0, OTHERS_SHOWN).map(({ message, exact }) => (
              <li key={message}>
                {message} · {count(exact)} agree
              </li>
            ))}
          </ul>
        </details>
      )}
      {notes.length > 0 && (
        <ul>
          {notes.map(({ message }) => (
            <li key={message}>{message}</li>
          ))}
        </ul>
      )}
      <p class="muted">
        {count(found.runs)} runs tried
        {found.complete ? '' : '; the time was over before all that is likely was tried'}.
        {canRun &&
          ' To keep a setting that helps, write it into the script’s strategy(); a day is chosen under Properties.'}
      </p>
    </section>
  )
}
