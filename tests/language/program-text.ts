// A checked program as one line of text, for tables of source → program. Not Pine: every type, qualifier and default is
// written out, and `name!` marks a variable whose history is read.

import type {
  Block,
  Expr,
  FunctionInstance,
  Program,
  Stmt,
  Variable,
} from '../../src/language/2-check/program.ts'
import { typeText } from '../../src/language/2-check/types.ts'

export function programText(program: Program): string {
  return [...program.functions.map(functionText), ...blockParts(program.body)].join('; ')
}

function functionText(fn: FunctionInstance): string {
  const parameters = fn.parameters
    .map((one) => `${one.qualifier} ${typeText(one.type)} ${one.name}`)
    .join(', ')
  return `${fn.name}(${parameters}) => ${typeText(fn.returns)} ${blockText(fn.body)}`
}

function blockText(block: Block): string {
  return `{${blockParts(block).join('; ')}}`
}

function blockParts(block: Block): string[] {
  const parts = block.statements.map(statementText)
  if (block.result !== null) parts.push(expressionText(block.result))
  return parts
}

function statementText(stmt: Stmt): string {
  switch (stmt.kind) {
    case 'Declare':
      return `${declared(stmt.variable)} = ${expressionText(stmt.value)}`
    case 'DeclareTuple':
      return `[${stmt.variables.map((one) => (one === null ? '_' : declared(one))).join(', ')}] = ${expressionText(stmt.value)}`
    case 'Assign':
      return `${stmt.variable.name} := ${expressionText(stmt.value)}`
    case 'AssignField':
      return `${expressionText(stmt.object)}.${stmt.field} := ${expressionText(stmt.value)}`
    case 'Expression':
      return expressionText(stmt.value)
    default:
      return stmt.kind.toLowerCase()
  }
}

function declared(variable: Variable): string {
  const mode = variable.mode === 'var' || variable.mode === 'varip' ? `${variable.mode} ` : ''
  return `${mode}${variable.qualifier} ${typeText(variable.type)} ${variable.name}${variable.historyRead ? '!' : ''}`
}

function expressionText(expr: Expr): string {
  switch (expr.kind) {
    case 'Const':
      if (expr.value === null) return `na:${typeText(expr.type)}`
      if (expr.type.kind === 'color') return `#${Number(expr.value).toString(16).padStart(8, '0')}`
      if (typeof expr.value === 'object')
        return `${typeText(expr.type)}.${(expr.value as { name: string }).name}`
      return JSON.stringify(expr.value)
    case 'Variable':
      return expr.variable.name
    case 'BuiltinVariable':
      return expr.builtin.name
    case 'Input':
      return `input#${expr.input.index}`
    case 'History':
      return `${expressionText(expr.base)}[${expressionText(expr.offset)}]`
    case 'Unary':
      return `(${expr.operator} ${expressionText(expr.operand)})`
    case 'Binary':
      return `(${expressionText(expr.left)} ${expr.operator} ${expressionText(expr.right)})`
    case 'Ternary':
      return `(${expressionText(expr.test)} ? ${expressionText(expr.consequent)} : ${expressionText(expr.alternate)})`
    case 'Convert':
      return `${typeText(expr.type)}<-${expressionText(expr.operand)}`
    case 'BuiltinCall':
      return `${expr.builtin.name}(${argumentsText(expr.args)})`
    case 'UserCall':
      return `${expr.fn.name}(${argumentsText(expr.args)})`
    case 'Tuple':
      return `[${argumentsText(expr.items)}]`
    case 'NewObject':
      return `${expr.udt.name}.new(${argumentsText(expr.args)})`
    case 'CopyObject':
      return `copy(${expressionText(expr.object)})`
    case 'Field':
      return `${expressionText(expr.object)}.${expr.field}`
    case 'If':
      return `if ${expressionText(expr.test)} ${blockText(expr.consequent)}${expr.alternate === null ? '' : ` else ${blockText(expr.alternate)}`}`
    case 'Switch': {
      const cases = expr.cases.map(
        (one) => `${one.test === null ? '' : `${expressionText(one.test)} `}=> ${blockText(one.body)}`,
      )
      return `switch${expr.subject === null ? '' : ` ${expressionText(expr.subject)}`} {${cases.join(', ')}}`
    }
    case 'For': {
      const by = expr.by === null ? '' : ` by ${expressionText(expr.by)}`
      return `for ${typeText(expr.counter.type)} ${expr.counter.name} = ${expressionText(expr.from)} to ${expressionText(expr.to)}${by} ${blockText(expr.body)}`
    }
    case 'ForIn': {
      const names = [expr.index, expr.value].filter((one) => one !== null)
      return `for [${names.map((one) => `${typeText(one.type)} ${one.name}`).join(', ')}] in ${expressionText(expr.collection)} ${blockText(expr.body)}`
    }
    default:
      return `while ${expressionText(expr.test)} ${blockText(expr.body)}`
  }
}

/** Arguments not given and without a default at the end are left out. */
function argumentsText(args: readonly (Expr | null)[]): string {
  const texts = args.map((one) => (one === null ? '_' : expressionText(one)))
  while (texts.at(-1) === '_') texts.pop()
  return texts.join(', ')
}
