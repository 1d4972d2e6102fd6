// How long the turns of the server's own thread are on a processor, and those of threads that it starts.

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { release } from 'node:os'

const CHILD = `
import { readFileSync, readlinkSync } from 'node:fs'
import { takeShortTurns } from './src/work/workers/thread-slice.ts'
const turns = (thread) => /^se\\.slice\\s*:\\s*(\\d+)$/m.exec(readFileSync('/proc/self/task/' + thread + '/sched', 'utf8'))?.[1]
const before = turns(process.pid)
await takeShortTurns()
// It stays until it has been looked at.
const body = 'setInterval(() => {}, 60000); postMessage(require("node:fs").readlinkSync("/proc/thread-self").split("/").at(-1))'
const worker = new Worker(URL.createObjectURL(new Blob([body])))
worker.onmessage = ({ data }) => {
  console.log(JSON.stringify([before, turns(process.pid), turns(data)]))
  process.exit()
}
`
const [major = 0, minor = 0] = release().split('.').map(Number)
/** Some systems do not show how they share out their processors. */
const isShown = existsSync('/proc/self/sched') && (major > 6 || (major === 6 && minor >= 12))

test.skipIf(!isShown)(
  'the first thread takes short turns, and threads that it starts the usual ones',
  async () => {
    const child = Bun.spawn([process.execPath, '-e', CHILD], {
      cwd: `${import.meta.dir}/../../..`,
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const [before, own, started] = JSON.parse(await new Response(child.stdout).text())
    expect(Number(own)).toBe(200_000)
    expect(started).toBe(before)
  },
)
