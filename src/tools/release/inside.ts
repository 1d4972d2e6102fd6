// What an executable was made for, told from its bytes: the machine in its header, LMDB's native part for that
// machine, and on macOS a signature of what it is.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { withoutSymbols } from '../elf.ts'
import { isSignedWhole } from '../macho.ts'
import { lmdbOf, TARGETS, type Target } from './targets.ts'

const root = resolve(import.meta.dir, '../../..')

/** In a sentence; null if nothing is. */
export function wrongInside(executable: Uint8Array, target: Target): string | null {
  const found = machineOf(executable)
  const wanted = `${target.os} ${target.cpu}`
  if (found !== wanted) return `The executable for ${target.name} is one for ${found}.`
  if (target.os === 'darwin' && !isSignedWhole(executable))
    return `The signature of the executable for ${target.name} is not that of its bytes, so macOS would end it.`
  const file = Buffer.from(executable.buffer, executable.byteOffset, executable.byteLength)
  const held = TARGETS.filter((one) => file.includes(nativeOf(one))).map(({ name }) => name)
  if (held.join(' ') === target.name) return null
  return `The executable for ${target.name} holds LMDB for ${held.join(', ') || 'no machine'}.`
}

/** As the executable embeds it. */
function nativeOf(target: Target): Uint8Array {
  const { package: name, file } = lmdbOf(target)
  return withoutSymbols(readFileSync(`${root}/node_modules/${name}/${file}`))
}

/** By the headers of ELF, Mach-O and PE. */
function machineOf(file: Uint8Array): string {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const words: Readonly<Record<number, string>> = { 62: 'x64', 183: 'arm64', 0x8664: 'x64', 0xaa64: 'arm64' }
  if (view.getUint32(0) === 0x7f45_4c46) return `linux ${words[view.getUint16(18, true)]}`
  if (view.getUint32(0, true) === 0xfeed_facf)
    return `darwin ${view.getUint32(4, true) === 0x0100_000c ? 'arm64' : 'x64'}`
  if (view.getUint16(0) === 0x4d5a)
    return `win32 ${words[view.getUint16(view.getUint32(60, true) + 4, true)]}`
  return 'no machine that is known'
}
