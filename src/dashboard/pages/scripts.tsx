import { Empty } from '../ui/ui.tsx'

export function Scripts() {
  return <Empty title="Scripts" />
}
