// request.*: see `runtime/request.ts` for what they answer.

import type { BuiltinCallExpr } from '../2-check/program.ts'
import type { Module, Scope } from './module.ts'

export function request(module: Module, expr: BuiltinCallExpr, scope: Scope): string {
  void scope
  return module.naOf(expr.type)
}
