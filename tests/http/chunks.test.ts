// Large answers over a real connection, whose memory is given back while they are sent.

import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { zstdDecompressSync } from 'node:zlib'
import { chunkStream, free } from '../../src/http/chunks.ts'
import { columnChunks } from '../../src/http/columns.ts'
import { encodedStream } from '../../src/http/encode.ts'
import { answerChunks, JsonText } from '../../src/http/json-text.ts'

const PIECES = 24
/** Of lengths that no buffer on the way has. */
const LENGTH = 700_001

/** As a job hands them over: letters that differ from place to place. */
function handedOver(): Uint8Array<ArrayBuffer>[] {
  return Array.from({ length: PIECES }, (_, i) => {
    const piece = new Uint8Array(LENGTH)
    for (let k = 0; k < LENGTH; k++) piece[k] = 33 + ((i * 31 + k) % 80)
    return piece
  })
}

const memoryOf = (pieces: readonly Uint8Array<ArrayBuffer>[]) => pieces.map(({ buffer }) => buffer)
const freed = (memory: readonly ArrayBuffer[]) => memory.filter(({ detached }) => detached).length
const hashOf = (bytes: Uint8Array) => Bun.SHA256.hash(bytes, 'hex')

/** Answers with it once, and says what a client got. */
async function received(body: ReadableStream<Uint8Array>, read: (port: number) => Promise<Uint8Array>) {
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(body) })
  return hashOf(await read(server.port ?? 0))
}

async function atOnce(port: number): Promise<Uint8Array> {
  return (await fetch(`http://127.0.0.1:${port}/`)).bytes()
}

/** Takes a little, stops until the server has stopped too, and goes on. */
function haltingly(port: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const got: Buffer[] = []
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    socket.on('data', (bytes: Buffer) => {
      got.push(bytes)
      socket.pause()
      setImmediate(() => socket.resume())
    })
    socket.on('error', reject)
    socket.on('end', () => resolve(bodyOf(Buffer.concat(got))))
  })
}

/** What the chunks of an HTTP answer say together. */
function bodyOf(answer: Buffer): Uint8Array {
  const parts: Buffer[] = []
  for (let at = answer.indexOf('\r\n\r\n') + 4; ;) {
    const end = answer.indexOf('\r\n', at)
    const length = Number.parseInt(answer.toString('latin1', at, end), 16)
    // An answer that was cut off has no end.
    if (!(length > 0)) return Buffer.concat(parts)
    parts.push(answer.subarray(end + 2, end + 2 + length))
    at = end + length + 4
  }
}

for (const [how, read] of Object.entries({ atOnce, haltingly }))
  test(`a client that reads ${how} gets every byte, though its memory is given back behind it`, async () => {
    const pieces = handedOver()
    const whole = hashOf(Buffer.concat(pieces))
    const memory = memoryOf(pieces)
    expect(await received(chunkStream(columnChunks(pieces, true), true), read)).toBe(whole)
    expect(freed(memory)).toBe(PIECES)
  })

test('the text of an answer is given back as it is sent', async () => {
  const pieces = handedOver()
  const memory = memoryOf(pieces)
  const whole = hashOf(Buffer.concat([Buffer.from('{"result":['), ...pieces, Buffer.from(']}')]))
  const chunks = answerChunks({ result: new JsonText(['[', pieces, ']']) })
  expect(await received(chunkStream(chunks, true), haltingly)).toBe(whole)
  expect(freed(memory)).toBe(PIECES)
})

test('what is sent compressed is given back when it was compressed', async () => {
  const pieces = handedOver()
  const memory = memoryOf(pieces)
  const whole = hashOf(Buffer.concat(pieces))
  const sent = encodedStream('zstd', columnChunks(pieces, true))
  const got = await new Response(sent as ReadableStream<Uint8Array<ArrayBuffer>>).bytes()
  expect([hashOf(zstdDecompressSync(got)), freed(memory)]).toEqual([whole, PIECES])
})

test('whoever reads an answer inside this process may keep its chunks', async () => {
  const pieces = handedOver()
  const memory = memoryOf(pieces)
  const whole = hashOf(Buffer.concat(pieces))
  const chunks = await Array.fromAsync(chunkStream(columnChunks(pieces, true), false))
  expect([hashOf(Buffer.concat(chunks)), freed(memory)]).toEqual([whole, 0])
})

test('of columns in one place the last frees it, and of what others have none does', async () => {
  const shared = new Uint8Array(16)
  const pieces = [shared, new Uint8Array(8), shared]
  const given = await Array.fromAsync(columnChunks(pieces, true))
  expect(given.map(({ frees }) => frees?.byteLength ?? null)).toEqual([null, 8, 16])
  const borrowed = await Array.fromAsync(columnChunks(pieces, false))
  expect(borrowed.map(({ frees }) => frees)).toEqual([null, null, null])
  free(shared.buffer)
  free(shared.buffer)
  expect(shared.length).toBe(0)
})
