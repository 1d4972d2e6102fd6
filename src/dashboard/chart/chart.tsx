import { Empty } from '../ui/ui.tsx'

export function Chart() {
  return <Empty title="Chart" />
}
