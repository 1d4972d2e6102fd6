import { expect, test } from 'bun:test'
import { Listeners } from '../../src/lib/listeners.ts'

test('all who listen are told, each until it has had enough', () => {
  const listeners = new Listeners<[what: string, times: number]>()
  const heard: string[] = []
  const end = listeners.add((what, times) => heard.push(`a ${what} ${times}`))
  listeners.add((what) => heard.push(`b ${what}`))
  listeners.tell('x', 2)
  end()
  listeners.tell('y', 1)
  expect(heard).toEqual(['a x 2', 'b x', 'b y'])
})
