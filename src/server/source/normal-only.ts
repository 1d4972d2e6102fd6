// Of jstat only the normal distribution is used, which is a fiftieth of it. It stands on the error function.

import { readFileSync } from 'node:fs'
import type { BunPlugin } from 'bun'
import { assert } from '../../lib/assert.ts'

export const normalOnly: BunPlugin = {
  name: 'normal-only',
  setup(build) {
    build.onLoad({ filter: /[\\/]jstat[\\/]dist[\\/]jstat\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      return {
        contents: `export const jStat = { extend: Object.assign, normal: {} }
${between(text, '// Returns the error function erf(x)', '// Returns the inverse of the incomplete beta')}
${between(text, 'jStat.extend(jStat.normal, {', '// extend pareto')}`,
        loader: 'js',
      }
    })
  },
}

function between(text: string, start: string, end: string): string {
  const from = text.indexOf(start)
  const to = text.indexOf(end, from)
  assert(from >= 0 && to > from, `jstat has "${start}" before "${end}"`)
  return text.slice(from, to)
}
