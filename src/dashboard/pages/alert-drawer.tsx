import { Empty } from '../ui/ui.tsx'

export function AlertDrawer() {
  return <Empty title="Alerts" />
}
