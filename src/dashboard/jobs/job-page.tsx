// The page of one run: its head with what can be done to it, and how far it is while it is under way.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { askFirst, attempt, Page, Show, useReloadWhile, type Loaded } from '../frame/page.tsx'
import { RunMenu } from '../research/run-columns.tsx'
import { deleteRuns, isGoing, KINDS, pageOf, stopRun, type Run, type RunKind } from '../research/runs.ts'
import { navigate } from '../router.ts'
import { buttons } from '../ui/buttons.tsx'
import { item, type MenuItems } from '../ui/menu.tsx'
import { Failure, Progress } from '../ui/ui.tsx'
import s from './jobs.module.css'

interface ShownJob {
  readonly name: string
  readonly state: Run['state']
  readonly error: { readonly message: string } | null
}

interface JobPageProps<Answer> {
  readonly kind: RunKind
  readonly id: string
  readonly loaded: Loaded<Answer>
  /** That of the answer, once it is there. */
  readonly job: ShownJob | undefined
  readonly about: (answer: Answer) => string
  /** What can be done besides stopping it and what its menu has. */
  readonly actions?: (answer: Answer, waits: boolean) => MenuItems
  readonly children: (answer: Answer) => ComponentChildren
}

export function JobPage<Answer>({ kind, id, loaded, job, ...page }: JobPageProps<Answer>) {
  const { text, goesToo, many, lookMs } = KINDS[kind]
  const { data } = loaded
  const title = job?.name ?? text
  const list = `/research?kind=${kind}`
  const waits = job !== undefined && isGoing(job)
  // What is being deleted is not asked for once more.
  const [isGoingAway, setIsGoingAway] = useState(false)
  useReloadWhile(waits && !isGoingAway, loaded, lookMs)
  const again = (made = id) => {
    navigate(pageOf({ kind, id: made })!)
    loaded.reload()
  }
  const remove = () =>
    askFirst({
      title: `Delete “${title}”?`,
      text: goesToo,
      action: 'Delete',
      async run() {
        setIsGoingAway(true)
        try {
          await deleteRuns([{ kind, id }])
        } catch (error) {
          setIsGoingAway(false)
          throw error
        }
        navigate(list)
      },
    })
  return (
    <Page
      title={title}
      back={[list, many]}
      about={data !== null && page.about(data)}
      actions={
        data !== null &&
        job && (
          <>
            {buttons([
              waits && item('Stop', '', () => attempt(stopRun({ kind, id }), loaded.reload)),
              ...(page.actions?.(data, waits) ?? []),
            ])}
            <RunMenu isOpen run={{ ...job, kind, id }} onChanged={again} onDelete={remove} />
          </>
        )
      }
    >
      <Show of={loaded}>{page.children}</Show>
    </Page>
  )
}

interface JobProgressProps {
  readonly job: ShownJob
  /** The sentence that says how far a stopped job came. */
  readonly stopped: string
  readonly label: string
  /** null = unknown. */
  readonly fraction: number | null
  /** The sentence that says how far the job is. */
  readonly children: ComponentChildren
}

/** Renders nothing once the job is done. */
export function JobProgress({ job, stopped, label, fraction, children }: JobProgressProps) {
  if (job.state === 'failed' && job.error) return <Failure error={new Error(job.error.message)} />
  if (job.state === 'cancelled') return <p class={s.note}>{stopped}</p>
  if (!isGoing(job)) return null
  const isQueued = job.state === 'queued'
  return (
    <div class={s.progress} role="status">
      <Progress fraction={isQueued ? null : fraction} label={label} />
      <span>{isQueued ? 'Waits for its turn.' : children}</span>
    </div>
  )
}
