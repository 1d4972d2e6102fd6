// A library without its symbols is the same to whoever loads it.

import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { withoutSymbols } from '../../src/tools/elf.ts'

const SEGMENTS_END = 0x40 + 0x38

test('what is behind the last segment is left out, and the header names no sections', () => {
  const file = new Uint8Array(400)
  const view = new DataView(file.buffer)
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1])
  view.setBigUint64(32, 0x40n, true)
  view.setBigUint64(40, 300n, true)
  for (const [at, value] of [
    [54, 0x38],
    [56, 1],
    [60, 9],
    [62, 8],
  ] as const)
    view.setUint16(at, value, true)
  view.setBigUint64(0x40 + 8, BigInt(SEGMENTS_END), true)
  view.setBigUint64(0x40 + 32, 50n, true)
  file.fill(7, SEGMENTS_END)
  const bare = withoutSymbols(file)
  expect(bare).toHaveLength(SEGMENTS_END + 50)
  expect(bare.slice(SEGMENTS_END)).toEqual(new Uint8Array(50).fill(7))
  const header = new DataView(bare.buffer, bare.byteOffset)
  expect([header.getBigUint64(40, true), header.getUint16(60, true), header.getUint16(62, true)]).toEqual([
    0n,
    0,
    0,
  ])
  expect(view.getUint16(60, true)).toBe(9)
})

test('a file of another system stays as it is', () => {
  const file = new TextEncoder().encode(`MZ${'x'.repeat(100)}`)
  expect(withoutSymbols(file)).toBe(file)
})

test('lmdb’s library is loaded without its symbols', () => {
  const { platform, arch } = process
  const path = `${import.meta.dir}/../../node_modules/@lmdb/lmdb-${platform}-${arch}/node.napi${platform === 'linux' ? '.glibc' : ''}.node`
  const whole = readFileSync(path)
  const bare = withoutSymbols(whole)
  if (platform === 'linux') expect(bare.length).toBeLessThan(whole.length / 2)
  const folder = mkdtempSync(`${tmpdir()}/chartroom-elf-`)
  try {
    writeFileSync(`${folder}/bare.node`, bare)
    // By a name of its own: what another file of tests has loaded, lmdb has added to.
    writeFileSync(`${folder}/whole.node`, whole)
    const load = createRequire(import.meta.url)
    const names = (file: string) => Object.keys(load(file) as object).toSorted()
    expect(names(`${folder}/bare.node`)).toEqual(names(`${folder}/whole.node`))
  } finally {
    rmSync(folder, { recursive: true })
  }
})
