// A list of stored jobs of one kind (sweeps, scans, portfolios), read again while one of them is under way.

import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Page, Show, usePages, useReloadWhile } from '../frame/page.tsx'
import type { LiveEvent } from '../live-hub.ts'
import { onLive } from '../live.ts'
import { href, navigate } from '../router.ts'
import { Ago } from '../ui/ago.tsx'
import { DataTable, type Column } from '../ui/data-table.tsx'
import type { IconName } from '../ui/icon.tsx'
import { Button, Empty } from '../ui/ui.tsx'
import { isUnderWay, type JobState } from '../../wire/job-state.ts'

interface ListedJob {
  readonly id: string
  readonly name: string
  readonly state: JobState
  readonly createdAt: number
}

interface JobListProps<Job extends ListedJob> {
  readonly title: string
  readonly about: string
  /** The path of the list; those of a job and of the form are below it. */
  readonly path: string
  readonly load: Parameters<typeof usePages<Job>>[0]
  /** The live event that tells of a change. */
  readonly event?: LiveEvent
  /** How often the list is loaded again while a job is under way. */
  readonly lookMs: number
  readonly make: readonly [label: string, icon: IconName]
  /** Shown between name and date. */
  readonly columns: readonly Column<Job>[]
  readonly nameHead: string
  /** Shown where there is no job yet: says what such a job is for. */
  readonly children: ComponentChildren
}

export function JobList<Job extends ListedJob>(props: JobListProps<Job>) {
  const { title, about, path, load, event, lookMs, make, columns, nameHead, children } = props
  const list = usePages(load, [])
  useEffect(() => (event ? onLive(event, list.reload, list.reload) : undefined), [])
  useReloadWhile(list.data?.items.some(isUnderWay) ?? false, list, lookMs)
  const [label, icon] = make
  const begin = () => navigate(`${path}/new`)
  const all: Column<Job>[] = [
    {
      of: 'name',
      head: nameHead,
      look: 'main',
      cell: (job) => <a href={href(`${path}/${job.id}`)}>{job.name}</a>,
    },
    ...columns,
    {
      of: 'createdAt',
      head: 'Made',
      look: 'muted',
      cell: ({ createdAt }) => <Ago at={createdAt} />,
      sort: ({ createdAt }) => createdAt,
    },
  ]
  return (
    <Page
      title={title}
      about={about}
      actions={
        <Button variant="primary" icon={icon} onClick={begin}>
          {label}
        </Button>
      }
    >
      <Show of={list}>
        {({ items, onMore }) => (
          <DataTable
            label={title}
            rows={items}
            onMore={onMore}
            keyOf={({ id }) => id}
            columns={all}
            empty={
              <Empty
                title={`No ${title.toLowerCase()} yet`}
                action={<Button onClick={begin}>{label}</Button>}
              >
                {children}
              </Empty>
            }
          />
        )}
      </Show>
    </Page>
  )
}
