// Which suites come to a module, by their own imports or by those of helpers.

import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'

const transpiler = new Bun.Transpiler({ loader: 'ts' })

/** Those of `files` that import one of `modules`, or a file below `tests/` that does. All are paths from the top of the project. */
export function reaching(files: readonly string[], modules: readonly string[]): string[] {
  const imported = new Map<string, readonly string[]>()
  const importsOf = (file: string) => {
    const known = imported.get(file)
    if (known) return known
    const found = transpiler
      .scanImports(readFileSync(file, 'utf8'))
      .filter(({ path }) => path.startsWith('.') && path.endsWith('.ts'))
      .map(({ path }) => relative('.', resolve(dirname(file), path)).replaceAll('\\', '/'))
      .filter((path) => path.startsWith('tests/'))
    imported.set(file, found)
    return found
  }
  return files.filter((file) => {
    const seen = new Set([file])
    for (const one of seen) for (const path of importsOf(one)) seen.add(path)
    return modules.some((module) => seen.has(module))
  })
}
