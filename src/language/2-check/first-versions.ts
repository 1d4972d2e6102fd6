// What the first versions had otherwise. A text that names no version is of version 1, which had no `if`, no `:=` and none of
// the later name spaces: whatever uses them was written for another version, and has to say for which.
//
// In versions 1 and 2 a variable's own past could stand in its declaration, and the past of one that is declared below
// could be read (TradingView's guide "To Pine Script version 3"). Both are written here as version 3 has them: declared as
// na first, and given its value where it was declared.
//
//     s = nz(s[1]) + close     →     s = na
//                                    s := nz(s[1]) + close

import type * as tree from '../1-parse/tree.ts'
import { blocksOfExpression, dotted, expressionsOf, partsOf, statementsBelow } from '../tree-walk.ts'

/** Whether nothing in a text is newer than version 1. */
export function isVersion1(statements: readonly tree.Statement[]): boolean {
  for (const one of statementsBelow(statements)) {
    if (!STATEMENTS.has(one.kind)) return false
    if (one.kind === 'VariableDeclaration' && (one.mode !== 'plain' || one.type !== null)) return false
    if (!expressionsOf(one).every(isOld)) return false
  }
  return true
}

const STATEMENTS: ReadonlySet<tree.Statement['kind']> = new Set([
  'VariableDeclaration',
  'TupleDeclaration',
  'FunctionDeclaration',
  'ExpressionStatement',
])

function isOld(node: tree.Expression): boolean {
  if (blocksOfExpression(node).length > 0) return false
  const name = node.kind === 'Identifier' || node.kind === 'Member' ? dotted(node) : null
  if (name !== null) return !NEWER.test(name)
  return partsOf(node).every(isOld)
}

/** Since version 4 or 5. */
const NEWER =
  /^(?:(?:indicator|library)$|(?:ta|math|str|array|matrix|map|request|input|color|plot|hline|label|line|linefill|box|table|polyline|ticker|chart|log|runtime|timeframe|display|format|order|extend|xloc|yloc|text)\.)/

/** A use, above its declaration, of what is not the past of a variable: what these versions made of it is not done here. */
export interface EarlyUse {
  readonly at: tree.Identifier
  readonly declared: tree.VariableDeclaration
}

export interface WithPasts {
  readonly script: tree.Script
  readonly early: readonly EarlyUse[]
}

/** `isBuiltIn` says which names mean something before a script declares them: `volume = volume / 2` is made of the volume. */
export function withPasts(script: tree.Script, isBuiltIn: (name: string) => boolean): WithPasts {
  const early: EarlyUse[] = []
  const rewritten = (statements: readonly tree.Statement[]): tree.Statement[] => {
    const declared = new Map<string, { readonly node: tree.VariableDeclaration; readonly at: number }>()
    for (const [at, one] of statements.entries())
      if (one.kind === 'VariableDeclaration' && !declared.has(one.name.name) && !isBuiltIn(one.name.name))
        declared.set(one.name.name, { node: one, at })
    /** The statement that needs each variable declared before it. */
    const neededAt = new Map<string, number>()
    for (const [i, statement] of statements.entries())
      for (const { name, isPast } of usesIn(statement)) {
        const found = declared.get(name.name)
        if (found === undefined || found.at < i) continue
        if (!isPast) early.push({ at: name, declared: found.node })
        else if (!neededAt.has(name.name)) neededAt.set(name.name, i)
      }
    return statements.flatMap((statement, i): tree.Statement[] => {
      const before = [...neededAt].flatMap(([name, at]) =>
        at === i ? [asNa(declared.get(name)!.node, statement)] : [],
      )
      if (statement.kind === 'FunctionDeclaration') {
        const body = { ...statement.body, statements: rewritten(statement.body.statements) }
        return [...before, { ...statement, body }]
      }
      const isMoved =
        statement.kind === 'VariableDeclaration' &&
        neededAt.has(statement.name.name) &&
        declared.get(statement.name.name)?.at === i
      return [...before, isMoved ? assigned(statement) : statement]
    })
  }
  const statements = rewritten(script.statements)
  return { script: { ...script, statements }, early }
}

interface NameUse {
  readonly name: tree.Identifier
  /** `x[1]`. */
  readonly isPast: boolean
}

/** Names that a statement reads, blocks and the bodies of functions included, but for what is declared inside of it. */
function usesIn(statement: tree.Statement): NameUse[] {
  const own = new Set<string>()
  const found: NameUse[] = []
  const expression = (node: tree.Expression): void => {
    if (node.kind === 'Identifier') found.push({ name: node, isPast: false })
    else if (node.kind === 'Index' && node.object.kind === 'Identifier') {
      found.push({ name: node.object, isPast: !isZero(node.index) })
      expression(node.index)
    } else
      for (const part of partsOf(node))
        // A function may have the name of a variable.
        if (node.kind !== 'Call' || part !== node.callee || part.kind !== 'Identifier') expression(part)
    if (node.kind === 'For') own.add(node.counter.name)
    for (const block of blocksOfExpression(node)) for (const one of block.statements) within(one)
  }
  const within = (one: tree.Statement): void => {
    if (one.kind === 'VariableDeclaration' && one !== statement) own.add(one.name.name)
    if (one.kind === 'TupleDeclaration') for (const name of one.names) own.add(name.name)
    if (one.kind === 'FunctionDeclaration') {
      for (const parameter of one.parameters) own.add(parameter.name.name)
      for (const inner of one.body.statements) within(inner)
    }
    for (const part of expressionsOf(one)) expression(part)
  }
  within(statement)
  return found.filter(({ name }) => !own.has(name.name))
}

function isZero(node: tree.Expression): boolean {
  return node.kind === 'Number' && node.value === 0
}

function asNa(node: tree.VariableDeclaration, { start }: tree.Node): tree.VariableDeclaration {
  // Functions in between see it, too.
  const name = { ...node.name, start, end: start }
  return { ...node, name, value: { kind: 'Identifier', name: 'na', start, end: start } }
}

function assigned({ name, value, start, end }: tree.VariableDeclaration): tree.Assignment {
  const target = { kind: 'Identifier', name: name.name, start: name.start, end: name.end } as const
  return { kind: 'Assignment', operator: ':=', target, value, start, end }
}
