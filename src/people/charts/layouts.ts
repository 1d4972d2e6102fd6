// Layouts of the charts, by name.

import type { Clock } from '../../lib/clock.ts'
import type { NewId } from '../../lib/ids.ts'
import { invalidField, Problem } from '../../lib/problem.ts'
import { marketName } from '../../lib/text.ts'
import { collection, type Page, type PageOptions } from '../../store/collection.ts'
import type { Kv } from '../../store/kv.ts'
import { ownedIn } from '../../store/owned.ts'
import { transact, type Also } from '../../store/transaction.ts'
import type { LayoutChart, Layout as Shown } from '../../wire/layout.ts'

export const LAYOUTS_PER_USER = 100
/** The limit of one layout in bytes of UTF-8, most of them its indicators' scripts. */
const LAYOUT_BYTES = 512 * 1024

export interface Layout extends Shown {
  readonly ownerId: string
}

export type Layouts = ReturnType<typeof createLayouts>

export function createLayouts({
  kv,
  clock,
  newId,
}: {
  readonly kv: Kv
  readonly clock: Clock
  readonly newId: NewId
}) {
  const layouts = collection<Layout>(kv, 'layouts', {
    indexes: { owner: (layout) => [layout.ownerId] },
    counts: { owner: { of: (layout) => [layout.ownerId], max: LAYOUTS_PER_USER, noun: 'layouts' } },
  })
  const notFound = () => new Problem(404, 'layout_not_found', 'There is no such layout.')
  const changedSince = () =>
    new Problem(409, 'conflict', 'The layout has been changed since. Read it again, then change that.')
  const owned = ownedIn(layouts, notFound)
  const listeners = new Set<(layout: Layout) => void>()
  const tell = (layout: Layout) => {
    for (const listener of listeners) listener(layout)
  }
  return {
    async create(ownerId: string, name: string, chart: LayoutChart, also?: Also<Layout>): Promise<Layout> {
      const now = clock.now()
      const layout = {
        id: newId('lay'),
        ownerId,
        name,
        chart: checked(chart),
        createdAt: now,
        updatedAt: now,
      }
      await transact(kv, (tx) => [layouts.insert(layout), also?.(layout, tx)])
      return layout
    },
    get: owned,
    list: (ownerId: string, options: PageOptions): Promise<Page<Layout>> =>
      layouts.list('owner', [ownerId], options),
    async change(
      ownerId: string,
      id: string,
      {
        name,
        chart,
        seen,
      }: {
        readonly name?: string | undefined
        readonly chart?: LayoutChart | undefined
        readonly seen?: number | undefined
      },
    ): Promise<Layout> {
      await owned(ownerId, id)
      const layout = await layouts.update(id, (before) => {
        if (seen !== undefined && seen !== before.updatedAt) throw changedSince()
        return {
          ...before,
          ...(name !== undefined && { name }),
          ...(chart && { chart: checked(chart) }),
          // Later than before even within a millisecond, since it tells one change from the next.
          updatedAt: Math.max(clock.now(), before.updatedAt + 1),
        }
      })
      if (!layout) throw notFound()
      tell(layout)
      return layout
    },
    /** Another process has changed a layout. */
    async heard(id: string): Promise<void> {
      const layout = await layouts.get(id)
      if (layout) tell(layout)
    },
    onChange(listener: (layout: Layout) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async remove(ownerId: string, id: string): Promise<void> {
      await owned(ownerId, id)
      await layouts.delete(id)
    },
  }
}

function checked(chart: LayoutChart): LayoutChart {
  if (Buffer.byteLength(JSON.stringify(chart)) > LAYOUT_BYTES)
    throw new Problem(422, 'quota_exceeded', 'A layout can take at most 512 kB. Take some indicators off.')
  const { grid } = chart
  if (grid) checkGrid(grid)
  return { ...named(chart), ...(grid && { grid: { ...grid, others: grid.others.map(named) } }) }
}

function checkGrid({ shape, others, active, script }: NonNullable<LayoutChart['grid']>): void {
  const places = Number.parseInt(shape)
  if (others.length >= places)
    throw invalidField(
      '/chart/grid/others',
      'max_items',
      `A grid of ${places} has room for ${places - 1} charts beside the active one.`,
    )
  for (const [name, place] of Object.entries({ active, script }))
    if (place > others.length)
      throw invalidField(`/chart/grid/${name}`, 'maximum', `There is no chart at place ${place}.`)
}

type OneChart = NonNullable<LayoutChart['grid']>['others'][number]

const named = <C extends OneChart>(chart: C): C => ({
  ...chart,
  ...inUpperCase(chart),
  ...(chart.compared && { compared: chart.compared.map((one) => ({ ...one, ...inUpperCase(one) })) }),
})

const inUpperCase = ({ exchange, symbol }: { readonly exchange: string; readonly symbol: string }) => ({
  exchange: marketName(exchange),
  symbol: marketName(symbol),
})
