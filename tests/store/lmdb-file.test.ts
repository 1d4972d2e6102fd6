// The reader of LMDB's file, against LMDB: it finds what LMDB wrote, and trusts nothing that LMDB must not open.

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { checkDatabase } from '../../src/store/check-database.ts'
import { type EntryReader, FileDamage, readLmdbFile } from '../../src/store/lmdb-file.ts'
import { lmdbKv } from '../../src/store/lmdb.ts'

const seed = Number(Bun.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
let state = seed
const below = (limit: number) => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
  return (state >>> 8) % limit
}
const folder = mkdtempSync(`${tmpdir()}/chartroom-file-`)
afterAll(() => rmSync(folder, { recursive: true }))
const path = `${folder}/data.mdb`
const PAGE = 4096
/** Where meta data stands: on two pages, and what is synced in the middle of the first. */
const METAS = [0, PAGE / 2, PAGE]

/** Rows of every size, some of them over many pages, written and deleted in several transactions. */
async function written(): Promise<Map<string, string>> {
  const kv = lmdbKv({ path: folder })
  const rows = kv.openDatabase<Buffer>({ name: 'rows', encoding: 'binary' })
  const others = kv.openDatabase<Buffer>({ name: 'others', encoding: 'binary' })
  const model = new Map<string, string>()
  // Values that fill a page, and its neighbours, to the byte.
  const sizes = [0, 1, 100, 2000, PAGE - 25, PAGE - 24, PAGE - 23, 2 * PAGE - 24, 2 * PAGE - 23, 9_000]
  // Enough for a branch, whatever the random rows come to.
  await kv.environment.transaction(() => {
    for (let i = 10; i < 40; i++) {
      const key = Buffer.from(`stays ${i}`)
      const value = Buffer.alloc(600, i)
      void rows.put(key, value)
      model.set(`rows ${key.toString('hex')}`, value.toString('hex'))
    }
  })
  for (let step = 0; step < 6; step++) {
    await kv.environment.transaction(() => {
      for (let i = 0; i < 25; i++) {
        const key = Buffer.from(`key ${below(90)}`)
        const value = Buffer.alloc(sizes[below(sizes.length)] ?? 0, below(256))
        void rows.put(key, value)
        model.set(`rows ${key.toString('hex')}`, value.toString('hex'))
        const gone = Buffer.from(`key ${below(90)}`)
        void rows.remove(gone)
        model.delete(`rows ${gone.toString('hex')}`)
      }
      const key = Buffer.from(`other ${step}`)
      void others.put(key, key)
      model.set(`others ${key.toString('hex')}`, key.toString('hex'))
    })
  }
  // LMDB counts pages that it took and gave back as well, which were never written: behind them the file would look cut
  // short. What needs more pages than are free in a row stands at the end of the file.
  await kv.environment.transaction(() => {
    const key = Buffer.from('stays last')
    const value = Buffer.alloc(256 * PAGE, 7)
    void rows.put(key, value)
    model.set(`rows ${key.toString('hex')}`, value.toString('hex'))
  })
  await kv.close()
  return model
}

const model = await written()
const whole = readFileSync(path)
/** Pages that something points to: those without which a file is refused. */
const inUse = pagesInUse()

function read(options: { whole: boolean; entry?: EntryReader } = { whole: true }) {
  return readLmdbFile(path, options)
}

test(`every entry of every table is found, in order (SEED=${seed})`, () => {
  const found = new Map<string, string>()
  const keys: string[] = []
  const file = read({
    whole: true,
    entry(table, key, value) {
      found.set(`${table} ${key.toString('hex')}`, value.toString('hex'))
      if (table === 'rows') keys.push(key.toString('latin1'))
    },
  })
  expect(found).toEqual(model)
  expect(keys).toEqual(keys.toSorted())
  const rows = [...model.keys()].filter((key) => key.startsWith('rows ')).length
  expect(Object.fromEntries(file?.tables ?? [])).toEqual({ documents: 0, others: 6, rows })
  expect(file).toMatchObject({ bytes: whole.length, pageSize: PAGE, isSuspect: false })
  expect(file?.transaction).toBeGreaterThan(5)
  // Without the pages themselves the tables are known as well.
  expect(read({ whole: false })?.tables).toEqual(file?.tables ?? new Map())
})

test('no file is nothing, an empty or a foreign one is damage', () => {
  expect(readLmdbFile(`${folder}/nowhere`, { whole: true })).toBeNull()
  const other = `${folder}/other`
  for (const [content, said] of [
    ['', 'is empty'],
    ['x', 'is no database of Chartroom'],
    ['x'.repeat(PAGE * 3), 'is no database of Chartroom'],
  ] as const) {
    writeFileSync(other, content)
    expect(() => readLmdbFile(other, { whole: true })).toThrow(said)
  }
})

function pagesInUse(): ReadonlySet<number> {
  const found = new Set<number>()
  for (let page = 2; page < whole.length / PAGE; page++)
    if (damaged((bytes) => bytes.writeBigUInt64LE(9_999n, page * PAGE)) !== null) found.add(page)
  return found
}

/** Reads the file with a change made to it; what it says, or null where it was read. */
function damaged(change: (bytes: Buffer) => void, options = { whole: true }): string | null {
  const bytes = Buffer.from(whole)
  change(bytes)
  writeFileSync(path, bytes)
  try {
    read(options)
    return null
  } catch (error) {
    if (!(error instanceof FileDamage)) throw error
    return error.message
  } finally {
    writeFileSync(path, whole)
  }
}

test('a page in use that became another, is no page, or points elsewhere is damage', () => {
  expect(inUse.size).toBeGreaterThan(20)
  const kinds = Map.groupBy(inUse, (page) => whole.readUInt16LE(page * PAGE + 18) & 7)
  expect(new Set(kinds.keys())).toEqual(new Set([1, 2, 4]))
  for (const page of [...kinds.values()].flatMap((pages) => pages.slice(0, 4))) {
    const at = page * PAGE
    const flags = whole.readUInt16LE(at + 18)
    const isTree = (flags & 3) !== 0
    expect(damaged((bytes) => bytes.fill(0, at, at + PAGE))).toMatch(/is damaged \(.*page \d+/)
    expect(damaged((bytes) => bytes.writeUInt16LE(flags ^ 7, at + 18))).toMatch(
      /is no (leaf|branch|long value)/,
    )
    if (!isTree) {
      expect(damaged((bytes) => bytes.writeUInt32LE(0, at + 20))).toContain('is no long value')
      continue
    }
    const lower = whole.readUInt16LE(at + 20)
    expect(damaged((bytes) => bytes.writeUInt16LE(0, at + 20))).toContain('is not filled as it says')
    expect(damaged((bytes) => bytes.writeUInt16LE(PAGE, at + 22))).toContain('is not filled as it says')
    expect(damaged((bytes) => bytes.writeUInt16LE(whole.readUInt16LE(at + 22) + 1, at + 20))).toContain(
      'is not filled',
    )
    expect(damaged((bytes) => bytes.writeUInt16LE(lower - 2, at + 20))).not.toBeNull()
    expect(damaged((bytes) => bytes.writeUInt16LE(PAGE - 24 - 7, at + 24))).toContain('points beyond itself')
    const node = at + 24 + whole.readUInt16LE(at + 24)
    expect(damaged((bytes) => bytes.writeUInt16LE(PAGE, node + 6))).toContain('has a key beyond its end')
    if ((flags & 2) !== 0 && (whole.readUInt16LE(node + 4) & 1) === 0)
      expect(damaged((bytes) => bytes.writeUInt32LE(PAGE, node))).toContain('has a value beyond its end')
  }
})

test('two nodes that point to one page are damage, and so is a page beyond the last', () => {
  const branch = [...inUse].find((page) => whole.readUInt16LE(page * PAGE + 18) === 1) ?? 0
  const [first, second] = [0, 1].map(
    (i) => branch * PAGE + 24 + whole.readUInt16LE(branch * PAGE + 24 + i * 2),
  )
  const child = whole.readUInt32LE(first ?? 0)
  expect(damaged((bytes) => bytes.writeUInt32LE(child, second ?? 0))).toContain(
    `page ${child} is in use twice`,
  )
  for (const beyond of [0, 1, 900_000])
    expect(damaged((bytes) => bytes.writeUInt32LE(beyond, first ?? 0))).toContain(
      `page ${beyond} is beyond the last one`,
    )
})

test('of two pages of meta data the later counts, and one that is damaged is told', () => {
  const newest = METAS.map((at) => Number(whole.readBigUInt64LE(at + 24 + 128)))
  expect(read()?.transaction).toBe(Math.max(...newest))
  expect(damaged((bytes) => bytes.writeUInt16LE(0, 18))).toBe('is no database of Chartroom')
  expect(damaged((bytes) => bytes.writeUInt32LE(1, 24))).toBe('is no database of Chartroom')
  expect(damaged((bytes) => bytes.writeUInt32LE(9, 28))).toBe('is of another version of LMDB (9)')
  for (const size of [0, 128, 5000, 131_072])
    expect(damaged((bytes) => bytes.writeUInt32LE(size, PAGE + 24 + 24))).toContain('its second page')
  for (const size of [256, 65_536])
    expect(damaged((bytes) => bytes.writeUInt32LE(size, PAGE + 24 + 24)) ?? '').not.toContain(
      'its second page',
    )
  // Of a table's tree: how deep it is, and how many entries it has.
  const everywhere = (change: (bytes: Buffer, tables: number) => void) =>
    damaged((bytes) => METAS.forEach((at) => change(bytes, at + 24 + 72)))
  expect(everywhere((bytes, tables) => bytes.writeUInt16LE(0, tables + 6))).toContain('a depth of 0')
  expect(everywhere((bytes, tables) => bytes.writeUInt16LE(33, tables + 6))).toContain('a depth of 33')
  expect(everywhere((bytes, tables) => bytes.writeBigUInt64LE(99n, tables + 32))).toContain('entries of 99')
  const none = 0xffff_ffff_ffff_ffffn
  expect(everywhere((bytes, tables) => bytes.writeBigUInt64LE(none, tables + 40))).toContain(
    'it is empty and should not be',
  )
})

test('what was committed and not yet synced counts only while the machine that wrote it runs', () => {
  const numbers = METAS.map((at) => Number(whole.readBigUInt64LE(at + 24 + 128)))
  const [first, , second] = numbers as [number, number, number]
  const latest = first > second ? 0 : PAGE
  // As LMDB leaves it that syncs beside the next transaction; the last number of all is that of the boot.
  const read = (flags: number, boot?: bigint) => {
    const bytes = Buffer.from(whole)
    // Nothing in the middle: the other page is the one before.
    bytes.fill(0, PAGE / 2 + 24, PAGE / 2 + 24 + 144)
    bytes.writeUInt16LE(flags, latest + 24 + 28)
    if (boot !== undefined) bytes.writeBigUInt64LE(boot, latest + 24 + 136)
    writeFileSync(path, bytes)
    try {
      return readLmdbFile(path, { whole: false })?.transaction
    } finally {
      writeFileSync(path, whole)
    }
  }
  const NOT_SYNCED = 0x1000
  expect(read(0)).toBe(Math.max(first, second))
  expect(read(0, 1n)).toBe(Math.max(first, second))
  expect(read(NOT_SYNCED)).toBe(Math.max(first, second))
  expect(read(NOT_SYNCED, 1n)).toBe(Math.min(first, second))
  expect(read(NOT_SYNCED, 0n)).toBe(Math.min(first, second))
})

test('what was synced last stands in the middle of the first page, unless nothing was', () => {
  const META = 24
  const read = (last: bigint, synced: bigint, second: bigint) => {
    const bytes = Buffer.from(whole)
    bytes.copy(bytes, PAGE / 2 + META, META, META + 144)
    for (const [at, transaction] of [
      [0, last],
      [PAGE / 2, synced],
      [PAGE, second],
    ] as const) {
      bytes.writeBigUInt64LE(transaction, at + META + 128)
      bytes.writeUInt16LE(at === PAGE / 2 ? 0 : 0x1000, at + META + 28)
      bytes.writeBigUInt64LE(1n, at + META + 136)
    }
    writeFileSync(path, bytes)
    try {
      return readLmdbFile(path, { whole: false })?.transaction
    } finally {
      writeFileSync(path, whole)
    }
  }
  expect(read(9n, 7n, 8n)).toBe(7)
  expect(read(9n, 7n, 1n)).toBe(7)
  expect(read(9n, 9n, 8n)).toBe(9)
  expect(read(8n, 0n, 9n)).toBe(8)
})

test('a file of another start of the machine is suspect, and one that is cut short is damage', () => {
  const bytes = Buffer.from(whole)
  for (const at of METAS) bytes.writeBigUInt64LE(1n, at + 24 + 136)
  writeFileSync(path, bytes)
  expect(readLmdbFile(path, { whole: true })?.isSuspect).toBe(true)
  writeFileSync(path, whole)
  truncateSync(path, (Math.max(...inUse) + 1) * PAGE - 1)
  expect(() => read()).toThrow(/is cut short: page \d+ is in use, and its \d+ bytes end before it/)
  expect(() => checkDatabase(folder)).toThrow(`${path} is cut short`)
  writeFileSync(path, whole)
  expect(checkDatabase(folder)?.bytes).toBe(whole.length)
})
