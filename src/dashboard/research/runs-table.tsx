// The one table of runs of all kinds: found and put in order, opened, stopped, repeated, compared, put in a portfolio, deleted.

import { signal, useSignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { RUNS_MAX } from '../backtests/compare-model.ts'
import { askFirst, Find, pageStyles as p, Show, useLoad, useReloadWhile } from '../frame/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { onLive } from '../live.ts'
import { navigate, path, query } from '../router.ts'
import { DataTable } from '../ui/data-table.tsx'
import type { Order } from '../ui/sorting.ts'
import { Button, cx, Empty, Select } from '../ui/ui.tsx'
import { runColumns } from './run-columns.tsx'
import {
  deleteRuns,
  deletionText,
  isFound,
  isGoing,
  KINDS,
  NEWEST_FIRST,
  RUN_KINDS,
  type Listed,
  type Run,
  type RunKind,
} from './runs.ts'
import type { ComponentChildren } from 'preact'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'

/** Rows shown at first, and how many more the button brings. */
const PAGE = 100
/** The most the server lists at once: searching and sorting must see all of them. */
const ALL = 9999
const PARTS_MAX = 20

/** Days back. */
const SINCE = { all: Infinity, day: 1, week: 7, month: 30 } as const
const PERIODS = [
  ['all', 'All time'],
  ['day', 'Last 24 hours'],
  ['week', 'Last 7 days'],
  ['month', 'Last 30 days'],
] as const

type KindWanted = RunKind | 'all'
const wantedKind = (): KindWanted => RUN_KINDS.find((kind) => kind === query.value.get('kind')) ?? 'all'

/** All runs of some kinds, the newest first, kept up to date. */
function useRuns(wanted: KindWanted, limit: number) {
  const lists = RUN_KINDS.map((kind) => {
    const { load, event, lookMs } = KINDS[kind]
    const isWanted = wanted === 'all' || wanted === kind
    const list = useLoad<Listed>(
      async (signal) => (isWanted ? load(limit, signal) : { runs: [], more: false }),
      [wanted, limit],
    )
    useEffect(() => (event ? onLive(event, list.reload, list.reload) : undefined), [])
    useReloadWhile(list.data?.runs.some(isGoing) ?? false, list, lookMs)
    return list
  })
  const there = lists.flatMap((list) => list.data ?? [])
  const runs = there.flatMap((one) => one.runs).toSorted((a, b) => b.createdAt - a.createdAt)
  return {
    data: there.length < lists.length ? null : { runs, more: there.some(({ more }) => more) },
    error: lists.find(({ error }) => error)?.error ?? null,
    reload: () => lists.forEach((list) => list.reload()),
  }
}

interface RunsProps {
  /** Only those of a script, by the names that its runs have. */
  readonly names?: readonly string[]
  /** Shown where nothing was run yet. */
  readonly empty: ComponentChildren
}

const ALL_RUNS = { order: NEWEST_FIRST as Order, words: '', days: 'all' as keyof typeof SINCE }
/** What Research was narrowed to: who has looked at one of the runs comes back to it. */
const researched = signal(ALL_RUNS)

export function Runs({ names, empty }: RunsProps) {
  const [whole, setWhole] = useState(false)
  const own = useSignal(ALL_RUNS)
  const filter = names ? own : researched
  const { order, words, days } = filter.value
  const narrow = (change: Partial<typeof ALL_RUNS>) => (filter.value = { ...filter.peek(), ...change })
  const [picked, setPicked] = useState<readonly string[]>([])
  const kind = wantedKind()
  const isNewest = order.by === NEWEST_FIRST.by && order.down
  const limit = isNewest && words.trim() === '' && days === 'all' && !whole && !names ? PAGE : ALL
  const list = useRuns(kind, limit)
  const all = (list.data?.runs ?? []).filter(
    ({ scripts }) => !names || scripts.some((name) => names.includes(name)),
  )
  // In the order in which they were ticked, which is that of a comparison.
  const chosen = picked.flatMap((id) => all.find((run) => run.id === id) ?? [])
  const pick = (ids: readonly string[], on: boolean) =>
    setPicked((before) => [...before.filter((one) => !ids.includes(one)), ...(on ? ids : [])])
  const remove = (runs: readonly Run[]) =>
    askFirst({
      title: `Delete ${runs.length === 1 ? `“${runs[0]!.name}”` : `${runs.length} runs`}?`,
      text: deletionText(runs),
      action: 'Delete',
      async run() {
        await deleteRuns(runs)
        const gone = runs.map(({ id }) => id)
        pick(gone, false)
        list.reload()
      },
    })
  const columns = runColumns(kind, { onChanged: list.reload, onDelete: (run) => remove([run]) })
  const since = Date.now() - SINCE[days] * 86_400_000
  const nothing =
    kind === 'all' ? empty : <Empty title={`No ${KINDS[kind].many.toLowerCase()} yet`}>{WHATS[kind]}</Empty>
  const rows = all.filter((run) => run.createdAt >= since && isFound(run, words))
  return (
    <>
      <div class={cx(p['actions'], p['bar'])}>
        <Segments label="Which runs" value={kind} options={FILTERS} onChange={choose} />
        <Find
          label="Find a run"
          placeholder="Name, market, interval"
          words={words}
          onInput={(text) => narrow({ words: text })}
        />
        <Select
          label="Made"
          hideLabel
          value={days}
          options={PERIODS}
          onChange={(made) => narrow({ days: made })}
        />
        <div class={cx(p['actions'], p['chosen'])}>
          <Chosen runs={chosen} onDelete={() => remove(chosen)} />
        </div>
      </div>
      <Show of={list}>
        {({ more }) =>
          all.length === 0 ? (
            <>{nothing}</>
          ) : rows.length === 0 ? (
            <Empty
              title="None fits"
              action={<Button onClick={() => narrow({ words: '', days: 'all' })}>Show all</Button>}
            >
              {words.trim() === ''
                ? 'No run was made then.'
                : `No run has “${words.trim()}” in its name, market or interval.`}
            </Empty>
          ) : (
            <DataTable
              label="Runs"
              rows={rows}
              columns={columns}
              page={PAGE}
              order={order}
              onOrder={(by) => narrow({ order: by })}
              onMore={more ? () => setWhole(true) : undefined}
              choice={{ chosen: picked, nameOf: ({ name }) => name, onChoose: pick }}
            />
          )
        }
      </Show>
    </>
  )
}

const FILTERS = {
  all: 'All',
  ...(Object.fromEntries(RUN_KINDS.map((kind) => [kind, KINDS[kind].many])) as Record<RunKind, string>),
}

const WHATS: Readonly<Record<RunKind, string>> = {
  backtest: 'Run a script on the chart: what it would have made is kept here.',
  sweep:
    'A sweep finds the best inputs of a script, and says whether they are more than luck. Choose a strategy, then Optimise.',
  scan: 'A scan shows what a script says of every market of a watchlist, or of all that have bars. Choose a script, then Scan.',
  portfolio:
    'A portfolio shows what several strategies would have made of one account, where adding up their backtests counts the same capital for each. Choose backtests here, then Put in a portfolio.',
  forward:
    'A backtest says what a strategy would have done. A forward run says what it does, on bars that nobody knew when it began. Choose a strategy, then Forward.',
}

function choose(kind: KindWanted): void {
  navigate(`${path.value}${kind === 'all' ? '' : `?kind=${kind}`}`, { replace: true })
}

function Chosen({ runs, onDelete }: { runs: readonly Run[]; onDelete: () => void }) {
  const isDone = runs.every(({ kind, state }) => kind === 'backtest' && state === 'done')
  const ids = runs.map(({ id }) => id).join(',')
  const mayCompare = isDone && runs.length >= 2 && runs.length <= RUNS_MAX
  const mayJoin = isDone && runs.length >= 1 && runs.length <= PARTS_MAX
  return (
    <>
      {buttons([
        runs.length > 0 && item(`Delete ${runs.length}`, 'trash', onDelete, { danger: true }),
        item('Put in a portfolio', '', () => navigate(`/research/portfolios/new?runs=${ids}`), {
          disabled: !mayJoin,
          note: mayJoin
            ? 'They trade with the same money'
            : `Choose 1 to ${PARTS_MAX} backtests that are done`,
        }),
        item('Compare', '', () => navigate(`/research/compare?runs=${ids}`), {
          disabled: !mayCompare,
          note: mayCompare
            ? 'Their curves over one axis, and their figures'
            : `Choose 2 to ${RUNS_MAX} backtests that are done to compare`,
        }),
      ])}
    </>
  )
}
