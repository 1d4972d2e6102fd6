// Archives as programs write them, and as nobody should.

import { deflateRawSync } from 'node:zlib'

export interface ZipEntry {
  readonly name: string
  readonly text: string | Uint8Array
  /** Kept as it is, deflated, or deflated with sizes and check sum behind the data, as streaming programs do. */
  readonly how?: 'stored' | 'deflated' | 'open-ended'
  /** A check sum that does not agree. */
  readonly crc?: number
  readonly flags?: number
  readonly method?: number
}

export function zip(entries: readonly ZipEntry[]): Uint8Array {
  const parts: Uint8Array[] = []
  const directory: Uint8Array[] = []
  let at = 0
  for (const { name, text, how = 'deflated', crc: given, flags = 0x800, method } of entries) {
    const content = Buffer.from(text)
    const packed = how === 'stored' ? content : deflateRawSync(content)
    const crc = given ?? Bun.hash.crc32(content)
    const isOpen = how === 'open-ended'
    const title = Buffer.from(name)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(20, 4)
    local.writeUInt16LE(flags | (isOpen ? 8 : 0), 6)
    local.writeUInt16LE(method ?? (how === 'stored' ? 0 : 8), 8)
    local.writeUInt32LE(isOpen ? 0 : crc, 14)
    local.writeUInt32LE(isOpen ? 0 : packed.length, 18)
    local.writeUInt32LE(isOpen ? 0 : content.length, 22)
    local.writeUInt16LE(title.length, 26)
    const descriptor = Buffer.alloc(isOpen ? 16 : 0)
    if (isOpen) {
      descriptor.writeUInt32LE(0x08074b50, 0)
      descriptor.writeUInt32LE(crc, 4)
      descriptor.writeUInt32LE(packed.length, 8)
      descriptor.writeUInt32LE(content.length, 12)
    }
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    central.writeUInt16LE(local.readUInt16LE(6), 8)
    central.writeUInt16LE(local.readUInt16LE(8), 10)
    central.writeUInt32LE(crc, 16)
    central.writeUInt32LE(packed.length, 20)
    central.writeUInt32LE(content.length, 24)
    central.writeUInt16LE(title.length, 28)
    central.writeUInt32LE(at, 42)
    parts.push(local, title, packed, descriptor)
    directory.push(central, title)
    at += local.length + title.length + packed.length + descriptor.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(at, 16)
  return new Uint8Array(Buffer.concat([...parts, ...directory, end]))
}
