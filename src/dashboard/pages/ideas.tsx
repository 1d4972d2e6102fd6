import { Empty } from '../ui/ui.tsx'

export function Ideas() {
  return <Empty title="Ideas" />
}
