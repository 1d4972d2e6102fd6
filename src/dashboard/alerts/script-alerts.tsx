// The alerts that run one script, and a button for another.

import { Show } from '../frame/page.tsx'
import { subjectId, type TabProps } from '../research/subject.ts'
import { useStored } from '../studies/catalogue.ts'
import { Empty } from '../ui/ui.tsx'
import { alertAt } from '../workspace.ts'
import { AlertRows, useAlerts } from './alerts-list.tsx'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'

export function ScriptAlerts({ subject }: TabProps) {
  const { alerts } = useAlerts()
  const stored = useStored()
  // An alert on a built-in study runs a copy of it, or one that plots how far two of its lines are apart.
  const text = subject.source.trimEnd()
  const ids = [
    subject.id,
    ...stored
      .filter(({ source }) => source.trimEnd() === text || source.startsWith(`${text}\nplot((`))
      .map(({ id }) => subjectId(id)),
  ]
  const add = buttons([item('Add alert…', 'bell', () => (alertAt.value = { subject }))])
  return (
    <Show of={alerts}>
      {(list) => {
        const own = list.filter(({ scriptId }) => scriptId !== null && ids.includes(scriptId))
        return own.length === 0 ? (
          <Empty title="No alert runs it" action={add}>
            You can be told when one of its plots crosses a level, the price or another plot, or when it calls
            for an alert itself.
          </Empty>
        ) : (
          <>
            {add}
            <AlertRows of={own} />
          </>
        )
      }}
    </Show>
  )
}
