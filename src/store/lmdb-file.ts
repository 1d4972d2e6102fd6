// Reads LMDB's file page by page without LMDB: is it such a file, is it whole, and which tables does it have?
//
// LMDB maps its file into memory and trusts it. A file that is cut short or overwritten would then end the process with
// SIGBUS or SIGSEGV, which cannot be caught, so we check it before LMDB opens it. The format is that of the LMDB in lmdb-js
// (data version 2): two meta pages, of which the one with the later transaction counts; a tree of tables, whose leaves hold
// the roots of further trees; and values too long for a page on pages of their own.
//
//     page      0 u64 number   8 u64 transaction   18 u16 flags   20 u16 lower   22 u16 upper   24 pointers
//     node      0 u32 size (or the child's number, 48 bits)   4 u16 flags   6 u16 length of the key   8 key, value
//     tree      0 u32 page size   4 u16 flags   6 u16 depth   32 u64 entries   40 u64 root
//     meta      0 u32 magic   4 u32 version   24 free pages' tree   72 tables' tree   120 u64 last page
//             128 u64 transaction   136 u64 boot

import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { isNoFile, NO_FILE } from './files.ts'

const HEADER_BYTES = 24
const META_BYTES = 144
const TREE_BYTES = 48
const MAGIC = 0xbeefc0de
const DATA_VERSION = 2
const BRANCH = 1
const LEAF = 2
const OVERFLOW = 4
const META = 8
const BIG_DATA = 1
const SUB_DATA = 2
/** A flag of a meta page: the pages it refers to may not all have reached the disk. */
const OVERLAPPING_SYNC = 0x1000
const NO_ROOT = 0xffff_ffff_ffff_ffffn
const DEPTH_MAX = 32

/** What is wrong with a file, worded as the end of a sentence that begins with its name: "is cut short …". */
export class FileDamage extends Error {}

export interface LmdbFile {
  readonly bytes: number
  readonly pageSize: number
  readonly transaction: number
  /** Number of entries by name of the table. */
  readonly tables: ReadonlyMap<string, number>
  /** The file was written before the machine started, or on another machine, or is shorter than it claims. */
  readonly isSuspect: boolean
}

/** Receives every entry of every table in key order. The bytes are valid only until it returns. */
export type EntryReader = (table: string, key: Buffer, value: Buffer) => void

export interface ReadOptions {
  /** true = reads every page in use; false = only the first pages of each table. */
  readonly whole: boolean
  /** Called only with `whole`. */
  readonly entry?: EntryReader
}

/** Reads what is needed to trust the file. Answers null if it is empty or missing. Throws `FileDamage`. */
export function readLmdbFile(path: string, options: ReadOptions): LmdbFile | null {
  if (isNoFile(path)) throw new FileDamage(NO_FILE)
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  try {
    return new Walk(file, options).result()
  } finally {
    closeSync(file)
  }
}

interface Tree {
  readonly name: string
  /** Whether it is a table, and not the tree of tables or of free pages. */
  readonly isTable: boolean
  readonly depth: number
  readonly entries: number
  readonly root: bigint
}

interface Meta {
  readonly pageSize: number
  readonly flags: number
  readonly free: Tree
  readonly tables: Tree
  readonly lastPage: number
  readonly transaction: bigint
  readonly boot: bigint
}

class Walk {
  readonly #file: number
  readonly #whole: boolean
  readonly #entry: EntryReader | undefined
  readonly #bytes: number
  #pageSize = 4096
  #lastPage = 0
  /** One bit for each page that something points to. */
  #seen = new Uint8Array(0)
  readonly #tables = new Map<string, number>()

  constructor(file: number, { whole, entry }: ReadOptions) {
    this.#file = file
    this.#whole = whole
    this.#entry = entry
    this.#bytes = fstatSync(file).size
  }

  result(): LmdbFile | null {
    if (this.#bytes === 0) throw new FileDamage('is empty')
    const meta = this.#meta()
    this.#pageSize = meta.pageSize
    this.#lastPage = meta.lastPage
    this.#seen = new Uint8Array((meta.lastPage >> 3) + 1)
    this.#walk(meta.free, null)
    const trees: Tree[] = []
    this.#walk(meta.tables, trees)
    for (const tree of trees) {
      this.#walk(tree, null)
      this.#tables.set(tree.name, tree.entries)
    }
    return {
      bytes: this.#bytes,
      pageSize: this.#pageSize,
      transaction: Number(meta.transaction),
      tables: this.#tables,
      isSuspect: meta.boot !== bootOfMachine() || (meta.lastPage + 1) * meta.pageSize > this.#bytes,
    }
  }

  /** The meta page that LMDB will use when it opens the file as we do. */
  #meta(): Meta {
    const first = this.#metaAt(0)
    if (!first) throw new FileDamage('is no database of Chartroom')
    const synced = this.#metaAt(first.pageSize >> 1)
    const second = this.#metaAt(first.pageSize)
    if (!second) throw new FileDamage('is damaged: its second page should be the copy of the first')
    const boot = bootOfMachine()
    return pick(synced && synced.transaction > 0n ? pick(first, synced, boot) : first, second, boot)
  }

  #metaAt(offset: number): Meta | null {
    const page = this.#read(offset, HEADER_BYTES + META_BYTES)
    if (!page) return null
    // The copy in the middle of the page only looks as if it had a header.
    const meta = page.subarray(HEADER_BYTES)
    if (offset === 0 && (page.readUInt16LE(18) & META) === 0) return null
    if (offset === 0 && meta.readUInt32LE(0) !== MAGIC) return null
    if (offset === 0 && (meta.readUInt32LE(4) & 0xffff) !== DATA_VERSION)
      throw new FileDamage(`is of another version of LMDB (${meta.readUInt32LE(4) & 0xffff})`)
    const pageSize = meta.readUInt32LE(24)
    const sound = pageSize >= 256 && pageSize <= 65_536 && (pageSize & (pageSize - 1)) === 0
    if (!sound) return null
    return {
      pageSize,
      flags: meta.readUInt16LE(28),
      free: treeOf('free pages', meta.subarray(24), false),
      tables: treeOf('tables', meta.subarray(72), false),
      lastPage: Number(meta.readBigUInt64LE(120)),
      transaction: meta.readBigUInt64LE(128),
      boot: meta.readBigUInt64LE(136),
    }
  }

  /** `subtrees` receives the tables that a tree of tables names. */
  #walk(tree: Tree, subtrees: Tree[] | null): void {
    if (tree.root === NO_ROOT) {
      if (tree.entries !== 0) throw this.#damage(tree, 'it is empty and should not be')
      return
    }
    if (tree.depth < 1 || tree.depth > DEPTH_MAX) throw this.#damage(tree, `a depth of ${tree.depth}`)
    // Only a whole walk goes below the root, except that all tables have to be found.
    const levels = this.#whole || subtrees ? tree.depth : 1
    const entries = this.#visit(tree, tree.root, 0, levels, subtrees)
    if (levels === tree.depth && entries !== tree.entries)
      throw this.#damage(tree, `it has ${entries} entries of ${tree.entries}`)
  }

  /** Answers the number of entries below. */
  #visit(tree: Tree, number: bigint, level: number, levels: number, subtrees: Tree[] | null): number {
    const page = this.#page(tree, number, 1)
    const flags = page.readUInt16LE(18)
    const isLeaf = level === tree.depth - 1
    if ((flags & (BRANCH | LEAF | OVERFLOW | META)) !== (isLeaf ? LEAF : BRANCH))
      throw this.#damage(tree, `page ${number} is no ${isLeaf ? 'leaf' : 'branch'}`)
    const count = page.readUInt16LE(20) >> 1
    const room = this.#pageSize - HEADER_BYTES
    if (count < 1 || page.readUInt16LE(20) > page.readUInt16LE(22) || page.readUInt16LE(22) > room)
      throw this.#damage(tree, `page ${number} is not filled as it says`)
    if (!isLeaf && level + 1 >= levels) return 0
    let entries = 0
    for (let i = 0; i < count; i++) {
      const at = HEADER_BYTES + page.readUInt16LE(HEADER_BYTES + i * 2)
      if (at + 8 > this.#pageSize) throw this.#damage(tree, `page ${number} points beyond itself`)
      const nodeFlags = page.readUInt16LE(at + 4)
      const key = at + 8 + page.readUInt16LE(at + 6)
      if (key > this.#pageSize) throw this.#damage(tree, `page ${number} has a key beyond its end`)
      if (!isLeaf) {
        const child = BigInt(page.readUInt32LE(at)) | (BigInt(nodeFlags) << 32n)
        entries += this.#visit(tree, child, level + 1, levels, subtrees)
        continue
      }
      entries += 1
      const size = page.readUInt32LE(at)
      const length = nodeFlags & BIG_DATA ? 8 : size
      if (key + length > this.#pageSize) throw this.#damage(tree, `page ${number} has a value beyond its end`)
      const isLong = (nodeFlags & BIG_DATA) !== 0
      const long = isLong ? this.#overflow(tree, page.readBigUInt64LE(key), size) : null
      if (this.#entry && tree.isTable)
        this.#entry(tree.name, page.subarray(at + 8, key), long ?? page.subarray(key, key + size))
      if (subtrees && nodeFlags & SUB_DATA && length >= TREE_BYTES) {
        // The root's keys are the names of the tables, without the zero at the end.
        const name = page.toString('utf8', at + 8, key).replace(/\0$/, '')
        subtrees.push(treeOf(name, page.subarray(key), true))
      }
    }
    return entries
  }

  /** Answers the value if there is a reader for it. */
  #overflow(tree: Tree, number: bigint, size: number): Buffer | null {
    const pages = Math.floor((HEADER_BYTES - 1 + size) / this.#pageSize) + 1
    const page = this.#page(tree, number, pages)
    if ((page.readUInt16LE(18) & OVERFLOW) === 0 || page.readUInt32LE(20) < pages)
      throw this.#damage(tree, `page ${number} is no long value`)
    return this.#entry ? this.#read(Number(number) * this.#pageSize + HEADER_BYTES, size) : null
  }

  /** Reads the first of `count` pages, which nothing else may point to. */
  #page(tree: Tree, number: bigint, count: number): Buffer {
    const first = Number(number)
    if (number < 2n || first + count - 1 > this.#lastPage)
      throw this.#damage(tree, `page ${number} is beyond the last one`)
    for (let page = first; page < first + count; page++) {
      const bit = 1 << (page & 7)
      if (this.#seen[page >> 3]! & bit) throw this.#damage(tree, `page ${page} is in use twice`)
      this.#seen[page >> 3] = this.#seen[page >> 3]! | bit
    }
    const bytes = this.#read(first * this.#pageSize, this.#pageSize)
    if (!bytes || (first + count) * this.#pageSize > this.#bytes)
      throw new FileDamage(
        `is cut short: page ${first + count - 1} is in use, and its ${this.#bytes} bytes end before it`,
      )
    if (bytes.readBigUInt64LE(0) !== number) throw this.#damage(tree, `page ${number} is another one`)
    return bytes
  }

  /** Reads into a fresh buffer, since a walk may be in the middle of a page when it reads the next; null beyond the end. */
  #read(offset: number, length: number): Buffer | null {
    const bytes = Buffer.allocUnsafe(length)
    return readSync(this.#file, bytes, 0, length, offset) === length ? bytes : null
  }

  #damage(tree: Tree, what: string): FileDamage {
    return new FileDamage(`is damaged (${tree.name}: ${what})`)
  }
}

function treeOf(name: string, bytes: Buffer, isTable: boolean): Tree {
  return {
    name,
    isTable,
    depth: bytes.readUInt16LE(6),
    entries: Number(bytes.readBigUInt64LE(32)),
    root: bytes.readBigUInt64LE(40),
  }
}

/**
 * The later of two meta pages, unless the machine was restarted since: then its pages may not all have reached the disk,
 * and the earlier one counts.
 */
function pick(a: Meta, b: Meta, boot: bigint): Meta {
  const [earlier, latest] = a.transaction >= b.transaction ? [b, a] : [a, b]
  const isSynced = (latest.flags & OVERLAPPING_SYNC) === 0
  return isSynced || (latest.boot !== 0n && latest.boot === boot) ? latest : earlier
}

/** LMDB's number of a boot: the digits that the boot id begins with. */
function bootOfMachine(): bigint {
  try {
    const id = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')
    return BigInt(`0x${/^[0-9a-f]+/i.exec(id)?.[0] ?? '0'}`)
  } catch {
    return 0n
  }
}
