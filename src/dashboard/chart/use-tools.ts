// Attaches what can be drawn with, once there are bars: these need not wait for its code.

import { useEffect, useRef } from 'preact/hooks'
import { toastError } from '../ui/ui.tsx'

type Attach = typeof import('../drawings/attach.ts')

/** Calls `attach` once `to` is there, and again for another one; what it returns is called at the end. */
export function useTools<To>(to: To | false | null, attach: (tools: Attach, to: To) => () => void): void {
  // Bars that go for a while, as when the symbol changes, take nothing away.
  const last = useRef(to)
  last.current = to || last.current
  useEffect(() => {
    const on = last.current
    if (!on) return undefined
    let detach: (() => void) | null = null
    let isGone = false
    import('../drawings/attach.ts').then((tools) => {
      if (!isGone) detach = attach(tools, on)
    }, toastError)
    return () => {
      isGone = true
      detach?.()
    }
  }, [last.current])
}
