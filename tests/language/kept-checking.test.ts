// What the checker says of fifteen hundred scripts that nobody wrote, as it did when this was written down.
//
// Nobody worked these out by hand: checker.test.ts has what is known to be right. A line says which mistakes were found
// where; its number stands for all that was said of them, and for the program with its inputs where there was one. Where a
// change is meant, `UPDATE=1 bun test` writes them again and the diff is the review.

import { expect, test } from 'bun:test'
import { parse } from '../../src/language/1-parse/parser.ts'
import { checkBroken } from '../../src/language/2-check/broken.ts'
import { check } from '../../src/language/2-check/check.ts'
import { Source } from '../../src/language/source.ts'
import { Random } from '../../src/tools/torture/random.ts'
import { damagedScript, LIBRARIES, SAMPLES } from './damaged-scripts.ts'
import { programText } from './program-text.ts'

const KEPT = `${import.meta.dir}/kept-checking.txt`
const OPTIONS = {
  library: (user: string, library: string, version: number) =>
    LIBRARIES[`${user}/${library}/${version}`] ?? null,
}

function said(source: string): string {
  const { script, diagnostics } = parse(source)
  const isWhole = diagnostics.every(({ severity }) => severity !== 'error')
  const { program, diagnostics: found, hasOutput } = check(script, OPTIONS)
  const all = isWhole ? found : [...diagnostics, ...checkBroken(script, source, diagnostics, OPTIONS)]
  const lines = new Source(source)
  const places = all.map(({ code, start }) => {
    const { line, column } = lines.position(start)
    return `${code}@${line}:${column}`
  })
  const details = all.map(({ message, hint, severity, start, end }) => [severity, message, hint, end - start])
  const made = program && [
    programText(program),
    program.inputs.map(({ kind, name, title, defval }) => [
      kind,
      name,
      title,
      typeof defval === 'object' ? null : defval,
    ]),
    program.declaration.args,
    program.plotTitles,
    program.siteCount,
    program.variableCount,
  ]
  const hash = Bun.hash.crc32(JSON.stringify([details, made, hasOutput])).toString(36)
  return `${places.join(' ') || 'nothing'} ${hash}`
}

test('the samples have no mistakes', () => {
  for (const source of SAMPLES) {
    const { script, diagnostics } = parse(source)
    const found = [...diagnostics, ...check(script, OPTIONS).diagnostics]
    expect(found.filter(({ severity }) => severity === 'error')).toEqual([])
  }
})

const written = Array.from({ length: 1500 }, (_, k) => said(damagedScript(new Random(k + 1))))
if (Bun.env['UPDATE'] === '1') await Bun.write(KEPT, `${written.join('\n')}\n`)
const kept = (await Bun.file(KEPT).text()).trim().split('\n')

test.each(written.map((line, k) => [k + 1, line] as const))(
  'of script %d it says what it said',
  (seed, line) => {
    expect(line).toBe(kept[seed - 1]!)
  },
)
