import { Empty } from '../ui/ui.tsx'

export function Alerts() {
  return <Empty title="Alerts" />
}
