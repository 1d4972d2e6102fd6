// The dialog for typing an interval: a digit on the chart opens it, it understands `4h`, `15` and `1D`, and Enter applies
// it.

import { intervalText } from '../format.ts'
import { normalizeInterval } from '../../market/interval.ts'
import { Dialog } from '../ui/dialog.tsx'
import { market } from '../workspace.ts'
import { symbols } from './cell.ts'
import s from './chart.module.css'
import { entered, intervalEntry, intervalsOf, showMarket, symbol } from './chart-state.ts'
import { useEntered } from './entered.ts'

export function IntervalDialog() {
  const text = intervalEntry.value ?? ''
  const wanted = normalizeInterval(text.trim())
  const known = intervalsOf(symbol.value)
  const isThere = wanted !== null && known.includes(wanted)
  const close = () => (intervalEntry.value = null)
  useEntered(symbols.value !== null, () => {
    if (!isThere) return
    close()
    showMarket({ ...market.value, interval: wanted })
  })
  return (
    <Dialog title="Interval" onClose={close} width={320}>
      <input
        class={s.searchField}
        value={text}
        aria-label="Interval"
        aria-describedby="interval-note"
        autocomplete="off"
        spellcheck={false}
        data-autofocus
        maxLength={8}
        onInput={(event) => {
          intervalEntry.value = event.currentTarget.value
          entered.value = false
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          entered.value = true
        }}
      />
      <p id="interval-note" class={isThere ? 'muted' : 'down'}>
        {wanted === null
          ? 'A number is minutes; add h, D, W or M: 15, 4h, 1D.'
          : isThere
            ? `${intervalText(wanted)}. Press Enter.`
            : `There are no bars for ${intervalText(wanted)}. ${those(known)}`}
      </p>
    </Dialog>
  )
}

const those = (known: readonly string[]): string =>
  known.length === 0
    ? ''
    : `${symbol.value?.symbol ?? 'The symbol'} has ${known.map(intervalText).join(', ')}.`
