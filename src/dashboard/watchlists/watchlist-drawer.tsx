// The watchlist beside the chart; a click on a symbol shows it.

import { useEffect } from 'preact/hooks'
import { navigate } from '../router.ts'
import { item, Menu } from '../ui/menu.tsx'
import { openDialog } from '../ui/dialogs.tsx'
import { Button, Choice, Empty } from '../ui/ui.tsx'
import { AddSymbol } from './add-symbol.tsx'
import { choose, chosen, importList, loadedLists, loadWatchlists, watchlists } from './lists.ts'
import { attempt, pageStyles as p, Show } from '../frame/page.tsx'
import { allSymbols } from './quotes.ts'
import { ImportWatchlist } from './watchlist-import.tsx'
import { WatchlistRows } from './watchlist-table.tsx'
import s from './watchlists.module.css'

export function WatchlistDrawer() {
  useEffect(() => void loadWatchlists(), [])
  const list = chosen.value
  if (!list) return <Show of={loadedLists()}>{() => <NoLists />}</Show>
  return (
    <>
      <div class={p['drawerHead']}>
        <Choice
          class={s.picker}
          aria-label="Watchlist"
          value={list.id}
          options={(watchlists.value ?? []).map(({ id, name }) => [id, name] as const)}
          onChange={choose}
        />
        <Menu
          label="Watchlists"
          size="small"
          items={[
            item('New list', 'plus', () => attempt(importList('New list', []))),
            item('Import a file', 'upload', importFile),
            item('All watchlists', 'list', () => navigate('/markets')),
          ]}
        />
      </div>
      <WatchlistRows list={list} />
      <AddSymbol list={list} />
    </>
  )
}

const importFile = (): void => openDialog(<ImportWatchlist />)

/** Creates a first list of all symbols with bars. */
function NoLists() {
  const start = async () => {
    const known = await allSymbols()
    await importList(
      'My markets',
      known.map(({ symbol, exchange, description }) => ({ symbol, exchange, note: description || null })),
    )
  }
  return (
    <Empty
      title="Watch some markets"
      action={
        <div class={p['actions']}>
          <Button variant="primary" onClick={() => attempt(start())}>
            List what has bars
          </Button>
          <Button onClick={importFile}>Import a file</Button>
        </div>
      }
    >
      A watchlist shows last price and change, and brings a market to the chart with one click.
    </Empty>
  )
}
