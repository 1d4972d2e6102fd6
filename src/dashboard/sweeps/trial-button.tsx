// A trial by its number, in tables: runs it on the chart. On a phone there are no heads above, so it says what it is.

import { Button } from '../ui/ui.tsx'
import s from './sweeps.module.css'

export const TrialButton = ({ trial, open }: { trial: number; open: (trial: number) => void }) => (
  <Button
    size="small"
    variant="quiet"
    aria-label={`Run trial ${trial} on the chart`}
    onClick={() => open(trial)}
  >
    <span class={s.word}>Trial</span> {trial}
  </Button>
)
