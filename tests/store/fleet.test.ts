import { expect, test } from 'bun:test'

const TOOL = `${import.meta.dir}/../../src/tools/fleet-test.ts`

test('nodes and a database that are killed lose nothing that was answered, and do nothing twice', async () => {
  const child = Bun.spawn([process.execPath, TOOL, '--nodes', '3', '--kills', '3', '--partitions', '1'], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  // Its first line has the seed.
  expect({ out, err, code }).toMatchObject({ out: expect.stringMatching(/^0 findings$/m), code: 0 })
  const [, stored = '0', acked = '0'] = /(\d+) writes stored, (\d+) of them/.exec(out) ?? []
  expect(Number(acked)).toBeGreaterThan(100)
  expect(Number(stored)).toBeGreaterThanOrEqual(Number(acked))
}, 300_000)
