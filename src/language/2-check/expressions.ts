// Expressions: which rule is for which.
//
// Names, operators, calls and blocks have a file each.

import { embedded } from './constant.ts'
import { unreachable } from '../../lib/assert.ts'
import type * as tree from '../1-parse/tree.ts'
import {
  forExpression,
  forInExpression,
  ifExpression,
  onceExpression,
  switchExpression,
  whileExpression,
} from './blocks.ts'
import { callExpression } from './calls.ts'
import { identifier, member } from './names.ts'
import { binary, history, ternary, tuple, unary } from './operators.ts'
import { errorExpr, type Place, type Use } from './place.ts'
import type { Expr } from './program.ts'
import { BOOL, COLOR, FLOAT, INT, STRING } from './types.ts'
import { constant } from './values.ts'

export function expression(here: Place, node: tree.Expression, use: Use = 'value'): Expr {
  if (!here.check.admits(here, node)) return errorExpr(node)
  switch (node.kind) {
    case 'Number':
      return constant(node, node.isInt ? INT : FLOAT, embedded(node.value))
    case 'String':
      return constant(node, STRING, node.value)
    case 'Bool':
      return constant(node, BOOL, node.value)
    case 'Color':
      return constant(node, COLOR, node.value)
    case 'Identifier':
      return identifier(here, node)
    case 'Member':
      return member(here, node)
    case 'Call':
      return callExpression(here, node)
    case 'Index':
      return history(here, node)
    case 'Unary':
      return unary(here, node)
    case 'Binary':
      return binary(here, node)
    case 'Ternary':
      return ternary(here, node)
    case 'Tuple':
      return tuple(here, node)
    case 'If':
      return ifExpression(here, node, use)
    case 'Switch':
      return switchExpression(here, node, use)
    case 'For':
      return forExpression(here, node, use)
    case 'ForIn':
      return forInExpression(here, node, use)
    case 'While':
      return whileExpression(here, node, use)
    case 'Once':
      return onceExpression(here, node)
    case 'Error':
      return errorExpr(node)
    default:
      return unreachable(node)
  }
}
