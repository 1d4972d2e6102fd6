// What providers are asked for, by itself or for an alert or a watchlist, and how that goes.

import type { Feed } from '../../wire/feed.ts'
import { call } from '../api-client.ts'
import type { Market } from '../charts.ts'
import { marketText } from '../format.ts'
import { attempt, pageStyles as p } from '../frame/page.tsx'
import { user } from '../session.ts'
import { actions, DataTable, own, type Column } from '../ui/data-table.tsx'
import { Badge } from '../ui/ui.tsx'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'

export function Followed({ feeds, onChanged }: { feeds: readonly Feed[]; onChanged: () => void }) {
  const stop = (query: Market) => attempt(call('DELETE /api/platform/feeds', { query }), onChanged)
  // For what else alerts and watchlists wait, nobody is asked.
  const kept = feeds.filter(({ followed, state }) => followed || state !== 'stopped')
  if (kept.length === 0) return null
  return (
    <DataTable
      label="What is kept fresh"
      rows={kept}
      keyOf={marketText}
      columns={columnsOf(user.value?.role !== 'member', stop)}
    />
  )
}

const columnsOf = (mayStop: boolean, stop: (of: Market) => void): readonly Column<Feed>[] => [
  own('symbol', 'Kept fresh', 'main', (feed) => (
    <>
      <span>{marketText(feed)}</span>
      <span class={p['cellNote']}>{feed.said}</span>
    </>
  )),
  own('state', 'State', '', (feed) => <FeedState feed={feed} />),
  actions('More', ({ followed, exchange, symbol, interval }) =>
    buttons(
      [followed && mayStop && item('Stop following', '', () => stop({ exchange, symbol, interval }))],
      'small quiet',
    ),
  ),
]

export const FeedState = ({ feed: { state, lastError } }: { readonly feed: Feed }) => (
  <Badge tone={state === 'retrying' ? 'warn' : lastError || state === 'waiting' ? undefined : 'up'}>
    {state}
  </Badge>
)
