import { Empty } from '../ui/ui.tsx'

export function Watchlists() {
  return <Empty title="Watchlists" />
}
