// Enter in the dialogs of symbols and intervals. What it chooses may not be known yet: a fast typist is done before the
// dialog's code or the list of symbols has arrived.

import { useEffect, useLayoutEffect } from 'preact/hooks'
import { entered } from './chart-state.ts'

/** Calls `choose` once Enter was pressed and it is known what there is to choose from. */
export function useEntered(known: boolean, choose: () => void): void {
  const due = entered.value && known
  useLayoutEffect(() => {
    if (!due) return
    entered.value = false
    choose()
  }, [due])
  useEffect(() => () => void (entered.value = false), [])
}
