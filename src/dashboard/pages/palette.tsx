import { Empty } from '../ui/ui.tsx'

export function Palette() {
  return <Empty title="Search" />
}
