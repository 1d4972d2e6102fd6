import { Empty } from '../ui/ui.tsx'

export function IdeaDrawer() {
  return <Empty title="Ideas" />
}
