// Advances a run over the bars that came, from its kept state.

import { advance, sizeOf } from '../../broker/advance.ts'
import { sha256 } from '../../lib/sha256.ts'
import type { AdvanceJob, AdvanceOutput, KeptRun } from './job.ts'
import { withAllItAsks } from './run-job.ts'
import type { Desk } from './desk.ts'

export function advanceJob({ kept, trusted, from, ...job }: AdvanceJob, desk: Desk): Promise<AdvanceOutput> {
  const { alertScripts: scripts } = desk
  return withAllItAsks(job, { ...desk, ...(scripts && { scripts }) }, (request, imported) => {
    const libraries = imported.size === 0 ? '' : sha256(JSON.stringify([...imported]))
    const answer = advance(request, kept?.libraries === libraries ? kept : null, from, { trusted })
    if (answer.kept) desk.used(sizeOf(answer.kept))
    return { ...answer, kept: answer.kept && shared({ ...answer.kept, libraries }) }
  })
}

function shared(kept: KeptRun): KeptRun {
  return { ...kept, run: inSharedMemory(kept.run), broker: inSharedMemory(kept.broker) }
}

function inSharedMemory(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  copy.set(bytes)
  return copy
}
