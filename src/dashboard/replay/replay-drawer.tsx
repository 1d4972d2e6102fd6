import { Empty } from '../ui/ui.tsx'

export function ReplayDrawer() {
  return <Empty title="Replay" />
}
