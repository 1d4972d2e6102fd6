// Layouts of the charts, by name.

import { Listeners } from '../../lib/listeners.ts'
import { invalidField, Problem } from '../../lib/problem.ts'
import { marketName } from '../../lib/market-name.ts'
import { collection } from '../../store/collection.ts'
import { byOwner, OwnedRecords, type RecordDeps } from '../../store/owned.ts'
import type { Also } from '../../store/transaction.ts'
import type { LayoutChart, Layout as Shown } from '../../wire/layout.ts'

export const LAYOUTS_PER_USER = 100
/** The limit of one layout in bytes of UTF-8, most of them its indicators' scripts. */
const LAYOUT_BYTES = 512 * 1024

export interface Layout extends Shown {
  readonly ownerId: string
}

export class Layouts extends OwnedRecords<Layout> {
  readonly #listeners = new Listeners<[layout: Layout]>()

  constructor(deps: RecordDeps) {
    const layouts = collection<Layout>(deps.kv, 'layouts', byOwner(LAYOUTS_PER_USER, 'layouts'))
    super(deps, layouts, 'layout_not_found', 'There is no such layout.')
  }

  async create(ownerId: string, name: string, chart: LayoutChart, also?: Also<Layout>): Promise<Layout> {
    const { newId, clock } = this.deps
    const now = clock.now()
    const made = { ownerId, name, chart: checked(chart), createdAt: now, updatedAt: now }
    const layout = { id: newId('lay'), ...made }
    return this.keep(layout, layout, also)
  }

  async change(
    ownerId: string,
    id: string,
    fields: {
      readonly name?: string | undefined
      readonly chart?: LayoutChart | undefined
      readonly seen?: number | undefined
    },
  ): Promise<Layout> {
    const { name, chart, seen } = fields
    await this.get(ownerId, id)
    const layout = await this.records.update(id, (before) => {
      if (seen !== undefined && seen !== before.updatedAt)
        throw new Problem(
          409,
          'conflict',
          'The layout has been changed since. Read it again, then change that.',
        )
      return {
        ...before,
        ...(name !== undefined && { name }),
        ...(chart && { chart: checked(chart) }),
        // Later than before even within a millisecond, since it tells one change from the next.
        updatedAt: Math.max(this.deps.clock.now(), before.updatedAt + 1),
      }
    })
    if (!layout) throw this.notFound()
    this.#listeners.tell(layout)
    return layout
  }

  /** Another process has changed a layout. */
  async heard(id: string): Promise<void> {
    const layout = await this.records.get(id)
    if (layout) this.#listeners.tell(layout)
  }

  onChange(listener: (layout: Layout) => void): () => void {
    return this.#listeners.add(listener)
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
