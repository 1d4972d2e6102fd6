import { Empty } from '../ui/ui.tsx'

export function Backtests() {
  return <Empty title="Backtests" />
}
