// How long ago something was, in words that move on while the page is open.

import { signal } from '@preact/signals'
import { ago } from '../format.ts'

const AGAIN_MS = 20_000

/** Ticks as long as anything on the page says how long ago it was. */
const ticks = ticking()

/** `style` as of Intl.RelativeTimeFormat: `narrow` is “28m ago”. */
export function Ago({ at, style }: { readonly at: number; readonly style?: 'narrow' }) {
  void ticks.value
  return <>{ago(at, Date.now(), style)}</>
}

function ticking() {
  let timer: ReturnType<typeof setInterval> | undefined
  return signal(0, {
    watched() {
      timer = setInterval(() => this.value++, AGAIN_MS)
    },
    unwatched: () => clearInterval(timer),
  })
}
