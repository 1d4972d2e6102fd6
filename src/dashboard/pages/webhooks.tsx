import { Empty } from '../ui/ui.tsx'

export function Webhooks() {
  return <Empty title="Webhooks" />
}
