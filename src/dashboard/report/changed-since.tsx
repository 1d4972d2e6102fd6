// Says above a report why it is another one than that of the same script before: TradingView has changed between their days.

import { useEffect } from 'preact/hooks'
import { dayToRepeat } from '../../language/behaviour.ts'
import { changedText } from '../as-of.ts'
import { checked, checkScript } from '../editor/documents.ts'
import { runAsOf } from '../run-script.ts'
import { Button } from '../ui/ui.tsx'
import { outrun, type ShownRun } from '../workspace.ts'
import s from './report.module.css'

export function ChangedSince({ run: { report, replaced } }: { readonly run: ShownRun }) {
  const { given, pineVersion } = checked.value ?? {}
  // While the editor is closed, nobody has checked what it holds.
  useEffect(() => void (checked.peek() ?? checkScript()), [])
  // What the script says itself is known of the text in the editor alone.
  if (!replaced || !given || outrun.value) return null
  const day = dayToRepeat(replaced.asOf)
  const text = changedText(given, pineVersion ?? 6, day, report.asOf)
  if (text === '') return null
  return (
    <p class={s.changedSince} role="status">
      {text}{' '}
      <Button size="small" onClick={() => void runAsOf(day)}>
        Run as before
      </Button>
    </p>
  )
}
