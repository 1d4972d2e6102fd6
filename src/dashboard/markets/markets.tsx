// Markets: the symbols that have bars, watchlists as groups of them, and where bars come from.

import { useEffect, useState } from 'preact/hooks'
import { count } from '../format.ts'
import { Page } from '../frame/page.tsx'
import { href, navigate } from '../router.ts'
import { openDialog } from '../ui/dialogs.tsx'
import { Button, Empty, Failure, Skeleton } from '../ui/ui.tsx'
import { chosen, choose, importList, listsProblem, loadWatchlists, watchlists } from '../watchlists/lists.ts'
import { ImportWatchlist } from '../watchlists/watchlist-import.tsx'
import { ListOfSymbols, openNaming } from './list-of-symbols.tsx'
import s from './markets.module.css'
import { SeriesTable } from './series-table.tsx'
import { Sources } from './sources.tsx'

const SOURCES = 'sources'

export function Markets({ group }: { readonly group?: string }) {
  const [made, setMade] = useState('')
  useEffect(() => void loadWatchlists(), [])
  const make = async (name: string) => {
    setMade((await importList(name, [])).list.id)
    go()
  }
  const go = () => navigate(`/markets/${chosen.peek()?.id ?? ''}`)
  return (
    <Page
      title="Markets"
      about="What there are bars of. Last prices and changes come from the bars that are stored here."
      actions={
        <>
          <Button icon="upload" onClick={() => navigate(`/markets/${SOURCES}`)}>
            Bring bars
          </Button>
          <Button onClick={() => openDialog(<ImportWatchlist />, go)}>Import a list</Button>
          <Button variant="primary" icon="plus" onClick={() => openNaming('New list', '', make)}>
            New list
          </Button>
        </>
      }
    >
      <div class={s.layout}>
        <nav class={s.groups} aria-label="Groups of markets">
          <Group to="/markets" text="All symbols" isOpen={group === undefined} />
          {(watchlists.value ?? []).map(({ id, name, items }) => (
            <Group
              key={id}
              to={`/markets/${id}`}
              text={name}
              note={count(items.length)}
              isOpen={id === group}
            />
          ))}
          <Group to={`/markets/${SOURCES}`} text="Sources" isOpen={group === SOURCES} />
        </nav>
        <div class={s.body}>
          {group === undefined ? (
            <SeriesTable />
          ) : group === SOURCES ? (
            <Sources />
          ) : (
            <List id={group} isNew={made === group} />
          )}
        </div>
      </div>
    </Page>
  )
}

interface GroupProps {
  readonly to: string
  readonly text: string
  readonly note?: string
  readonly isOpen: boolean
}

function Group({ to, text, note, isOpen }: GroupProps) {
  return (
    <a href={href(to)} aria-current={isOpen ? 'page' : undefined}>
      {text}
      {note && <small>{note}</small>}
    </a>
  )
}

function List({ id, isNew }: { readonly id: string; readonly isNew: boolean }) {
  useEffect(() => choose(id), [id])
  if (watchlists.value === null)
    return listsProblem.value ? (
      <Failure error={listsProblem.value} onRetry={() => void loadWatchlists()} />
    ) : (
      <Skeleton width="50%" />
    )
  const list = watchlists.value.find((one) => one.id === id)
  return list ? (
    <section aria-label={list.name}>
      <ListOfSymbols list={list} isNew={isNew} />
    </section>
  ) : (
    <Empty title="No such list">It may have been deleted.</Empty>
  )
}
