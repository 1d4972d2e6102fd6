// Suites of the API that touch nothing but answers, against the executable: bundled code is not the code of the source.

import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { executable, isMissing } from './server.ts'

const root = `${import.meta.dir}/../..`
const SUITES = ['features', 'letter']
/** A receiver's address has to be looked up, which only the stand-in does without a network; and the server has one owner. */
const NOT_OVER_THE_WIRE = 'show their secret once|contact opens a ticket|only the owner reads them'

test.skipIf(isMissing('executable'))(
  'the executable answers the suites of the API as the source does',
  async () => {
    const place = mkdtempSync(`${tmpdir()}/chartroom-suites-`)
    const servers = `${place}/servers`
    writeFileSync(servers, '')
    const files = SUITES.map((name) => `tests/http/${name}.test.ts`)
    const child = Bun.spawn(
      [process.execPath, 'test', '--timeout=300000', '-t', `^(?!.*(?:${NOT_OVER_THE_WIRE}))`, ...files],
      {
        cwd: root,
        env: {
          ...process.env,
          CHARTROOM_EXECUTABLE: executable,
          CHARTROOM_SERVERS: servers,
        },
        stdout: 'ignore',
        stderr: 'pipe',
      },
    )
    const said = await new Response(child.stderr).text()
    for (const line of readFileSync(servers, 'utf8').trim().split('\n')) {
      const [pid, folder = place] = line.split(' ')
      process.kill(Number(pid), 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    }
    rmSync(place, { recursive: true, force: true })
    expect({ code: await child.exited, said: said.slice(-3000) }).toMatchObject({ code: 0 })
    expect(Number(/^ *(\d+) pass$/m.exec(said)?.[1])).toBeGreaterThan(80)
  },
  900_000,
)
