import { Empty } from '../ui/ui.tsx'

export function Help() {
  return <Empty title="Help" />
}
