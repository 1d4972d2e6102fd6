import { expect, test } from 'bun:test'
import { parse } from '../../src/pine/1-parse/parser.ts'

test('a script is a tree', () => {
  const { script, diagnostics } = parse('//@version=5\nx = ta.sma(close, 10)[1]\n')
  expect(diagnostics).toEqual([])
  expect(script.version).toBe(5)
  expect(script.statements[0]).toMatchObject({
    kind: 'VariableDeclaration',
    name: { name: 'x' },
    value: { kind: 'Index' },
  })
})
