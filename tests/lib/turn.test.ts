import { expect, test } from 'bun:test'
import { turn } from '../../src/lib/turn.ts'
import { TurnCounter } from '../turns.ts'

test('of many who wait each has a turn of the event loop to itself, in the order they came', async () => {
  using counter = new TurnCounter()
  const turns: number[] = []
  const order: number[] = []
  await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      for (let times = 0; times < 2; times++) {
        await turn()
        order.push(i)
        turns.push(counter.turns)
      }
    }),
  )
  expect(new Set(turns).size).toBe(100)
  expect(order).toEqual([...Array(50).keys(), ...Array(50).keys()])
})

test('what comes over the network is heard between two turns', async () => {
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: (socket) => void socket.write('y') },
  })
  const heard: number[] = []
  let turns = 0
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: server.port,
    socket: {
      data(one) {
        heard.push(turns)
        one.write('x')
      },
    },
  })
  socket.write('x')
  await Promise.all(
    Array.from({ length: 200 }, async () => {
      await turn()
      turns++
    }),
  )
  socket.end()
  server.stop(true)
  expect(new Set(heard).size).toBeGreaterThan(20)
})
