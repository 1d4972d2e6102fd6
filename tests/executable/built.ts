// Where the executable is that suites run. One that is older than the sources is refused: a test of an executable that was
// built before the change it is about says nothing, whether it passes or fails.

import { existsSync, statSync } from 'node:fs'

const root = `${import.meta.dir}/../..`
export const builtExecutable = `${root}/dist/chartroom`

/** What `bun src/tools/build.ts` puts into the executable. */
const MADE_OF = ['src/**/*', 'data/{indicators,samples}/**/*', 'package.json', 'bun.lock']
/** But no tools that only run what is built, or the tests. */
const OTHER_TOOLS =
  /^src\/tools\/(bench|bench-readme|changelog|check|fleet-.*|incremental|mutate|npm-package|release|scoreboard|smoke|test|torture)(\.ts$|\/)/

const newer = changedAfterBuild(root, builtExecutable)
if (newer !== null)
  throw new Error(
    `dist/chartroom is older than ${newer}, so its tests would say nothing about it. Build it anew with \`bun src/tools/build.ts\`, or delete it: then they run the source.`,
  )

/** A source under `folder` that was changed after `executable` was built; null if none was, or nothing is built. */
export function changedAfterBuild(folder: string, executable: string): string | null {
  if (!existsSync(executable)) return null
  const builtAt = statSync(executable).mtimeMs
  for (const pattern of MADE_OF)
    for (const file of new Bun.Glob(pattern).scanSync({ cwd: folder }))
      if (!OTHER_TOOLS.test(file) && statSync(`${folder}/${file}`).mtimeMs > builtAt) return file
  return null
}
