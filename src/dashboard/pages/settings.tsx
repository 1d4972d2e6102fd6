import { Empty } from '../ui/ui.tsx'

export function Settings() {
  return <Empty title="Settings" />
}
