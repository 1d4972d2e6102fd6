// Small libraries in C, loaded before the server's own (LD_PRELOAD), that do to it what a machine may: lose power, set its
// clock. They are compiled when needed, if there is a compiler.

import { rmSync, writeFileSync } from 'node:fs'

/** Why none can be made here; null = they can. */
export function preloadMissing(): string | null {
  return process.platform === 'linux' && compilerName() !== undefined ? null : 'needs Linux and a C compiler'
}

const compilerName = () => ['cc', 'gcc', 'clang', 'tcc'].find((name) => Bun.which(name) !== null)

export function compilePreload(source: string, target: string): void {
  const text = `${target}.c`
  writeFileSync(text, source)
  const flags = ['-shared', '-fPIC', '-O1', '-w', '-o', target, text, '-ldl', '-lpthread']
  const made = Bun.spawnSync([compilerName() ?? 'cc', ...flags])
  rmSync(text)
  if (!made.success)
    throw new Error(`the C library did not compile: ${made.stderr.toString().slice(0, 1000)}`)
}
