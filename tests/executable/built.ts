// Where the executable is that suites run, and a warning if it is not of these sources: a test of an executable built before
// the change it is about says nothing, whether it passes or fails.

import { existsSync, statSync } from 'node:fs'

const root = `${import.meta.dir}/../..`
export const builtExecutable = `${root}/dist/chartroom`

if (existsSync(builtExecutable)) {
  const newer = changedAfter(statSync(builtExecutable).mtimeMs)
  if (newer !== null)
    console.warn(`dist/chartroom is older than ${newer}: \`bun src/tools/build.ts\` builds it anew.`)
}

/** The first source that was changed after `time` (milliseconds since 1970); null if none was. */
function changedAfter(time: number): string | null {
  for (const folder of ['src', 'data/indicators', 'data/samples'])
    for (const file of new Bun.Glob(`${folder}/**/*`).scanSync({ cwd: root }))
      if (statSync(`${root}/${file}`).mtimeMs > time) return file
  return null
}
