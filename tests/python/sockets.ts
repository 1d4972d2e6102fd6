// The connections of the packaged Python (`packaged.ts`), in a thread of their own.

import { connect, type Socket } from 'node:net'

export type Wish =
  | { readonly to: 'open'; readonly host: string; readonly port: number }
  | { readonly to: 'send'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly to: 'receive'; readonly id: number; readonly most: number }
  | { readonly to: 'close'; readonly id: number }

/** `answer` is three numbers (1 once it is there, a number, how many bytes) and the bytes. */
export type Asked = Wish & { readonly answer: SharedArrayBuffer }

export const ANSWER_BYTES = 12 + 65_536

const open = new Map<number, Socket>()
let ids = 0

async function done(wish: Wish): Promise<number | Uint8Array> {
  if (wish.to === 'open') return await opened(wish.host, wish.port)
  const socket = open.get(wish.id)
  if (wish.to === 'receive')
    return socket ? await received(socket, Math.min(wish.most, 65_536)) : new Uint8Array()
  if (wish.to === 'send') await new Promise((resolve) => socket?.write(wish.bytes, resolve))
  else {
    socket?.destroy()
    open.delete(wish.id)
  }
  return 0
}

/** 0 where nobody listens. */
function opened(host: string, port: number): Promise<number> {
  const socket = connect(port, host)
  return new Promise((resolve) => {
    socket.on('error', () => resolve(0))
    socket.once('connect', () => {
      open.set(++ids, socket)
      resolve(ids)
    })
  })
}

/** Up to `most` bytes as soon as there are any; none at the end. */
async function received(socket: Socket, most: number): Promise<Uint8Array> {
  for (;;) {
    const found: Uint8Array | null = socket.read(Math.min(most, socket.readableLength))
    if (found !== null && found.length > 0) return found
    if (socket.readableEnded || socket.destroyed) return new Uint8Array()
    await new Promise((resolve) => {
      for (const event of ['readable', 'end', 'close']) socket.once(event, resolve)
    })
  }
}

async function put({ answer, ...wish }: Asked): Promise<void> {
  const found = await done(wish)
  const words = new Int32Array(answer, 0, 3)
  if (typeof found === 'number') words[1] = found
  else {
    new Uint8Array(answer).set(found, 12)
    words[2] = found.length
  }
  Atomics.store(words, 0, 1)
  Atomics.notify(words, 0)
}

addEventListener('message', ({ data }: MessageEvent<Asked>) => void put(data))
postMessage('ready')
