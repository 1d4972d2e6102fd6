// How long ago something was, in words that move on while the page is open.

import { signal } from '@preact/signals'
import { ago } from '../format.ts'

const AGAIN_MS = 20_000

/** Ticks as long as anything on the page says how long ago it was. */
const ticks = ticking()

export function Ago({ at }: { readonly at: number }) {
  void ticks.value
  return <>{ago(at)}</>
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
