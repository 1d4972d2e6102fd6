// Answers stored tracks as columns, or some kinds of them. They are stored as JSON, which is parsed here and not on the
// server's own thread.

import type { TrackKinds } from '../../broker/tracks.ts'
import { pack } from '../../wire/columns.ts'
import type { Track } from '../../wire/track.ts'
import type { PackJob, PackOutput, TracksJob } from './job.ts'
import { storedValue } from './stored-text.ts'
import type { Desk } from './desk.ts'

export async function packJob({ at, kinds }: PackJob, desk: Pick<Desk, 'host'>): Promise<PackOutput> {
  return pack(await storedTracks(kinds, desk), at)
}

/** Answers JSON text. */
export async function tracksJob({ kinds }: TracksJob, desk: Pick<Desk, 'host'>): Promise<string> {
  return JSON.stringify(await storedTracks(kinds, desk))
}

async function storedTracks(kinds: TrackKinds, { host }: Pick<Desk, 'host'>): Promise<readonly Track[]> {
  const tracks = (await storedValue(host, 'tracks')) as readonly Track[]
  return kinds ? tracks.filter(({ kind }) => kinds.includes(kind)) : tracks
}
