import { Empty } from '../ui/ui.tsx'

export function TradesDrawer() {
  return <Empty title="Trades" />
}
