// Makes mutants of a source file: the small mistakes that a programmer could make in it, one at a time.
//
// They are found on the syntax tree, so that no comment, type or string is touched. A mutant is a stretch of the text and
// its replacement. Texts are left out on purpose, since people read messages and tests do not, and so is code that only
// declares types, imports or asserts.

import { parseSync, visitorKeys, type Node } from 'oxc-parser'

export interface Mutant {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '**': ['*'],
  '<': ['<=', '>'],
  '<=': ['<', '>'],
  '>': ['>=', '<'],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '&': ['|'],
  '|': ['&'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&&': ['||'],
  '||': ['&&'],
  '+=': ['-='],
  '-=': ['+='],
  '*=': ['/='],
  '/=': ['*='],
}

const METHODS: Readonly<Record<string, string>> = {
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  some: 'every',
  every: 'some',
  push: 'unshift',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
}

/** Calls whose arguments and absence no test should have to notice. */
const UNSEEN = /^(assert|console\.\w+|performance\.\w+)$/

/** 1 or -1 wherever it is called so: to divide by it is to multiply by it. */
const SIGN = /^(?:order\.)?(?:direction|side)$/

type AnyNode = Node & { readonly start: number; readonly end: number }

export function mutantsOf(path: string, text: string): Mutant[] {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`)
  const found: Mutant[] = []
  visit(program, (node) => {
    found.push(...mutations(node, text))
  })
  return found.filter(({ start, end, replacement }) => text.slice(start, end) !== replacement)
}

function visit(node: AnyNode, look: (node: AnyNode) => void): void {
  if (node.type.startsWith('Import') && node.type !== 'ImportExpression') return
  if (isType(node) || isUnseen(node)) return
  look(node)
  for (const key of visitorKeys[node.type] ?? [])
    for (const child of [(node as unknown as Record<string, unknown>)[key]].flat())
      if (isNode(child)) visit(child, look)
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

/** `x as T`, `x!` and `x satisfies T` contain an expression; all other nodes that only TypeScript has are types. */
function isType({ type }: AnyNode): boolean {
  return type.startsWith('TS') && !/^TS(As|NonNull|Satisfies)Expression$/.test(type)
}

function isUnseen(node: AnyNode): boolean {
  return node.type === 'CallExpression' && UNSEEN.test(pathOf(node.callee))
}

function pathOf(node: Node): string {
  if (node.type === 'Identifier') return node.name
  if (node.type !== 'MemberExpression' || node.computed) return ''
  return `${pathOf(node.object)}.${pathOf(node.property)}`
}

function mutations(node: AnyNode, text: string): Mutant[] {
  const of = ({ start, end }: { start: number; end: number }) => text.slice(start, end)
  const put = (at: { start: number; end: number }, replacement: string) => ({
    start: at.start,
    end: at.end,
    replacement,
  })
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
    case 'AssignmentExpression': {
      if (node.operator === '??') return [put(node, of(node.left))]
      if (/^[*/]$/.test(node.operator) && SIGN.test(of(node.right))) return []
      const between = of({ start: node.left.end, end: node.right.start })
      return (OPERATORS[node.operator] ?? []).map((operator) =>
        put(
          { start: node.left.end, end: node.right.start },
          between.replace(node.operator, () => operator),
        ),
      )
    }
    case 'UpdateExpression': {
      const other = node.operator === '++' ? '--' : '++'
      return [put(node, node.prefix ? other + of(node.argument) : of(node.argument) + other)]
    }
    case 'UnaryExpression':
      return node.operator === '!' || node.operator === '-' ? [put(node, of(node.argument))] : []
    case 'IfStatement':
      return [put(node.test, 'true'), put(node.test, 'false')]
    case 'ConditionalExpression':
      return [put(node.test, 'true'), put(node.test, 'false')]
    case 'WhileStatement':
      return [put(node.test, 'false')]
    case 'Literal':
      if (typeof node.value === 'boolean') return [put(node, String(!node.value))]
      return typeof node.value === 'number' ? [put(node, node.value === 1 ? '0' : `(${of(node)} + 1)`)] : []
    case 'ExpressionStatement':
      return 'directive' in node && node.directive ? [] : [put(node, ';')]
    case 'ReturnStatement':
      return node.argument === null ? [put(node, ';')] : []
    case 'BreakStatement':
    case 'ContinueStatement':
      return [put(node, ';')]
    case 'MemberExpression': {
      const other = node.computed ? undefined : METHODS[of(node.property)]
      return other === undefined ? [] : [put(node.property, other)]
    }
    case 'CallExpression':
      // The order of their arguments does not matter.
      if (/^Math\.(min|max|hypot)$/.test(pathOf(node.callee))) return []
      return node.arguments.slice(1).map((right, i) => {
        const left = node.arguments[i]!
        const between = of({ start: left.end, end: right.start })
        return put({ start: left.start, end: right.end }, of(right) + between + of(left))
      })
    default:
      return []
  }
}
