import { Empty } from '../ui/ui.tsx'

export function WatchlistDrawer() {
  return <Empty title="Watchlist" />
}
