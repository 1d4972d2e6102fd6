// Which threads of the process take a lower priority.

import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LowHelpers } from '../../../src/work/workers/thread-priority.ts'

const folder = mkdtempSync(join(tmpdir(), 'chartroom-threads-'))
afterAll(() => rmSync(folder, { recursive: true }))

const thread = (id: number, name: string) => {
  mkdirSync(join(folder, String(id)), { recursive: true })
  writeFileSync(join(folder, String(id), 'comm'), `${name}\n`)
}

test('helpers are lowered once each, those that come later at the next look, and no other thread', () => {
  const lowered: number[] = []
  const helpers = new LowHelpers(folder, (one) => lowered.push(one))
  thread(10, 'bun')
  thread(11, 'JITWorker')
  thread(12, 'JITWorker')
  thread(14, 'HeapHelper')
  helpers.look(0)
  expect(new Set(lowered)).toEqual(new Set([11, 12]))
  thread(13, 'JITWorker')
  helpers.look(999)
  expect(lowered).toHaveLength(2)
  helpers.look(1000)
  expect(lowered).toEqual([...lowered.slice(0, 2), 13])
  // A number may be given to another thread once its own has ended.
  rmSync(join(folder, '13'), { recursive: true })
  helpers.look(2000)
  thread(13, 'JITWorker')
  helpers.look(3000)
  expect(lowered.slice(2)).toEqual([13, 13])
})

test('a thread that may not be lowered, or a system that does not tell its threads, is no error', () => {
  const refused: number[] = []
  const helpers = new LowHelpers(folder, (one) => {
    refused.push(one)
    throw new Error('EPERM')
  })
  helpers.look(0)
  expect(refused.length).toBeGreaterThan(1)
  expect(() => new LowHelpers(join(folder, 'none')).look(0)).not.toThrow()
})
