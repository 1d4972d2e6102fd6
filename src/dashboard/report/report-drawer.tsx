import { Empty } from '../ui/ui.tsx'

export function ReportDrawer() {
  return <Empty title="Report" />
}
