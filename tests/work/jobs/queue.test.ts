// A user's work is done one after another, that of several side by side, and one that fails holds up nobody.

import { expect, test } from 'bun:test'
import { UserQueue } from '../../../src/work/jobs/queue.ts'

function played(queue: UserQueue) {
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  return {
    begun,
    ends,
    enter(userId: string, name: string) {
      const end = Promise.withResolvers<void>()
      ends.set(name, end)
      return queue.enter(userId, () => {
        begun.push(name)
        return end.promise
      })
    },
  }
}

const turns = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

test('a user waits for their own work alone', async () => {
  const queue = new UserQueue()
  const { enter, begun, ends } = played(queue)
  const failing = enter('a', 'a1').catch((error: unknown) => String(error))
  void enter('a', 'a2')
  void enter('b', 'b1')
  await turns()
  expect(begun).toEqual(['a1', 'b1'])
  ends.get('a1')!.reject(new Error('no'))
  await turns()
  expect(begun).toEqual(['a1', 'b1', 'a2'])
  expect(await failing).toBe('Error: no')
  expect([...queue.users()]).toEqual(['a', 'b'])
  ends.get('b1')!.resolve()
  await queue.settled(['b'])
  ends.get('a2')!.resolve()
  await queue.settled()
  expect([...queue.users()]).toEqual([])
})

test('together, all of a user’s work begins, and the user is done when all of it is', async () => {
  const queue = new UserQueue({ isTogether: true })
  const { enter, begun, ends } = played(queue)
  void enter('a', 'a1')
  void enter('a', 'a2')
  await turns()
  expect(begun).toEqual(['a1', 'a2'])
  ends.get('a2')!.resolve()
  await turns()
  expect([...queue.users()]).toEqual(['a'])
  ends.get('a1')!.resolve()
  await queue.settled()
  expect([...queue.users()]).toEqual([])
})
