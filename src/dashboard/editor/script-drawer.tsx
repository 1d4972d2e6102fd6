import { Empty } from '../ui/ui.tsx'

export function ScriptDrawer() {
  return <Empty title="Script" />
}
