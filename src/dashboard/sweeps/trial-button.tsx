// A trial by its number, in tables: runs it on the chart.

import { Button } from '../ui/ui.tsx'

export function TrialButton({
  trial,
  open,
}: {
  readonly trial: number
  readonly open: (trial: number) => void
}) {
  return (
    <Button
      size="small"
      variant="quiet"
      aria-label={`Run trial ${trial} on the chart`}
      onClick={() => open(trial)}
    >
      {trial}
    </Button>
  )
}
