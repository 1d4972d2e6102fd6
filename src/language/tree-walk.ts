// Walks over the tree as it was parsed, before any name means something.

import { unreachable } from '../lib/assert.ts'
import type * as tree from './1-parse/tree.ts'

/** All statements: each comes before those in its blocks, and functions' bodies are included. */
export function* statementsBelow(statements: readonly tree.Statement[]): Generator<tree.Statement> {
  for (const one of statements) {
    yield one
    for (const block of blocksOf(one)) yield* statementsBelow(block.statements)
  }
}

function blocksOf(node: tree.Statement): readonly tree.Block[] {
  switch (node.kind) {
    case 'FunctionDeclaration':
      return [node.body]
    case 'VariableDeclaration':
    case 'TupleDeclaration':
    case 'Assignment':
      return blocksOfExpression(node.value)
    case 'ExpressionStatement':
      return blocksOfExpression(node.expression)
    default:
      return []
  }
}

/** Blocks stand where a whole value does, so there are none deeper in an expression. */
export function blocksOfExpression(node: tree.Expression): readonly tree.Block[] {
  switch (node.kind) {
    case 'If':
      return node.alternate === null ? [node.consequent] : [node.consequent, node.alternate]
    case 'Switch':
      return node.cases.map((one) => one.body)
    case 'For':
    case 'ForIn':
    case 'While':
    case 'Once':
      return [node.body]
    default:
      return []
  }
}

/** The expressions a statement is made of, without those in its blocks. */
export function expressionsOf(node: tree.Statement): readonly tree.Expression[] {
  switch (node.kind) {
    case 'VariableDeclaration':
    case 'TupleDeclaration':
      return [node.value]
    case 'Assignment':
      return [node.target, node.value]
    case 'ExpressionStatement':
      return [node.expression]
    case 'FunctionDeclaration':
      return node.parameters.flatMap((one) => (one.default === null ? [] : [one.default]))
    default:
      return []
  }
}

/** The direct parts of an expression, without the statements in its blocks. */
export function partsOf(node: tree.Expression): readonly tree.Expression[] {
  const given = (...parts: readonly (tree.Expression | null)[]): readonly tree.Expression[] =>
    parts.filter((part) => part !== null)
  switch (node.kind) {
    case 'Member':
      return [node.object]
    case 'Call':
      return [node.callee, ...node.arguments.map((one) => one.value)]
    case 'Index':
      return [node.object, node.index]
    case 'Unary':
      return [node.operand]
    case 'Binary':
      return [node.left, node.right]
    case 'Ternary':
      return [node.test, node.consequent, node.alternate]
    case 'Tuple':
      return node.items
    case 'If':
    case 'While':
      return [node.test]
    case 'Once':
      return given(node.test)
    case 'Switch':
      return given(node.subject, ...node.cases.map((one) => one.test))
    case 'For':
      return given(node.from, node.to, node.by)
    case 'ForIn':
      return [node.collection]
    case 'Number':
    case 'String':
    case 'Bool':
    case 'Color':
    case 'Identifier':
    case 'Error':
      return []
    default:
      return unreachable(node)
  }
}

/** `a.b.c` as it is written; null when it is made of more than names. */
export function dotted(node: tree.Expression): string | null {
  if (node.kind === 'Identifier') return node.name
  if (node.kind !== 'Member') return null
  const names = [node.property.name]
  let object = node.object
  for (; object.kind === 'Member'; object = object.object) names.push(object.property.name)
  return object.kind === 'Identifier' ? [object.name, ...names.reverse()].join('.') : null
}

/** What a call gives for a parameter, by its name or else by its place. */
export function argumentValue(call: tree.Call, place: number, name: string): tree.Expression | null {
  const named = call.arguments.find((one) => one.name?.name === name)
  if (named !== undefined) return named.value
  const given = call.arguments[place]
  return given === undefined || given.name !== null ? null : given.value
}
