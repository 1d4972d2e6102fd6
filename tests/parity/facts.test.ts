// What others measured TradingView to do, as scripts of our own: each fact holds (spec/README.md).

import { describe, expect, test } from 'bun:test'
import { runCase } from '../../src/cli/parity/case.ts'
import { parityCases } from '../../src/cli/parity/cases.ts'

describe('facts', () => {
  for (const one of parityCases(`${import.meta.dir}/spec`))
    test(`${one.suite}: ${one.id}`, () => {
      expect(runCase(one).first).toBeNull()
    })
})
