// The menu of a script or a study where it stands on a chart: that of all scripts.

import { signal } from '@preact/signals'
import { Menu, type OpenMenu } from '../ui/menu.tsx'
import type { Study } from '../charts.ts'
import { editedSubject, orOwn, subjectId } from '../research/subject.ts'
import { subjectItems } from '../research/subject-menu.ts'
import { Icon } from '../ui/icon.tsx'
import type { Subject } from '../workspace.ts'
import { runInputs } from './plot-sources.ts'
import { studies } from './studies.ts'

/**
 * A study's line goes to another pane's legend when its first answer comes, and a menu that somebody has just opened must not
 * vanish with the line that it stood in.
 */
const open = signal<OpenMenu | null>(null)

/** Without a study that of the script in the editor. */
export function StudyMenu({ study, title }: { readonly study?: Study; readonly title: string }) {
  return (
    <Menu
      bar
      label={`More for ${title}`}
      kept={{ open, as: study?.id ?? 'script' }}
      items={() => subjectItems(study ? subjectOf(study) : editedSubject(), 'chart')}
    >
      <Icon name="more" />
    </Menu>
  )
}

export const subjectOf = ({ from, name, source, inputs }: Study): Subject => ({
  id: subjectId(from),
  name,
  kind: 'indicator',
  source,
  inputs: orOwn(() => runInputs(inputs, studies.peek())),
  overrides: {},
  stored: null,
})
