// The dialog that scrolls the chart to a date, given in the chart's time zone.

import { useState } from 'preact/hooks'
import { time } from '../format.ts'
import { openDialog, useClose } from '../ui/dialogs.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Button, Field } from '../ui/ui.tsx'
import { lookAt } from '../workspace.ts'
import { showsClock } from './bars.ts'
import { shown, zone } from './chart-state.ts'
import { NO_BARS } from './scene.ts'
import { toUtc } from './zone.ts'

export const openDateDialog = (): void => openDialog(<DateDialog />)

function DateDialog() {
  const leave = useClose()
  const { market, bars } = shown.value ?? { market: null, bars: NO_BARS }
  const clock = showsClock(market?.interval ?? '1d')
  const [from, to] = [bars.time[0], bars.time[bars.length - 1]].map((at) => time(at, zone.value, clock))
  const [text, setText] = useState(to!.replace(' ', 'T'))
  const local = Date.parse(`${text}Z`)
  const go = (event: Event) => {
    event.preventDefault()
    if (!Number.isFinite(local)) return
    leave()
    lookAt.value = { time: toUtc(local, zone.value) }
  }
  return (
    <Dialog title="Go to date" width={360}>
      <form onSubmit={go} style={{ display: 'grid', gap: '14px' }}>
        <Field
          label={`Date${clock ? ' and time' : ''} (${zone.value})`}
          type={clock ? 'datetime-local' : 'date'}
          value={text}
          onInput={setText}
          autofocus
          hint={bars.length === 0 ? '' : `Bars from ${from} to ${to}`}
        />
        <Button variant="primary" type="submit" disabled={!Number.isFinite(local)}>
          Go
        </Button>
      </form>
    </Dialog>
  )
}
