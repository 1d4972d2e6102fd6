import { Empty } from '../ui/ui.tsx'

export function DeliveriesDrawer() {
  return <Empty title="Deliveries" />
}
