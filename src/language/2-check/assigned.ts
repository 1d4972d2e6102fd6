// The names that `:=` changes somewhere in a block: a variable it declares may then not count as a constant, even above
// the line that changes it.

import type * as tree from '../1-parse/tree.ts'

/** Remembers the names of each block, since every block around it asks for them again. */
export class AssignedNames {
  readonly #known = new Map<tree.Block, ReadonlySet<string>>()

  /** The names that the block changes, in itself or in blocks inside of it. */
  of(block: tree.Block): ReadonlySet<string> {
    const known = this.#known.get(block)
    if (known !== undefined) return known
    const names = this.among(block.statements)
    this.#known.set(block, names)
    return names
  }

  among(statements: readonly tree.Statement[]): ReadonlySet<string> {
    const names = new Set<string>()
    for (const one of statements) this.#collect(one, names)
    return names
  }

  #collect(node: tree.Statement, names: Set<string>): void {
    switch (node.kind) {
      case 'Assignment':
        if (node.target.kind === 'Identifier') names.add(node.target.name)
        this.#collectFrom(node.value, names)
        break
      case 'VariableDeclaration':
      case 'TupleDeclaration':
        this.#collectFrom(node.value, names)
        break
      case 'ExpressionStatement':
        this.#collectFrom(node.expression, names)
        break
      default:
    }
  }

  /** Only blocks have statements, and a block can only be where a whole value is expected. */
  #collectFrom(node: tree.Expression, names: Set<string>): void {
    for (const block of blocksOf(node)) for (const name of this.of(block)) names.add(name)
  }
}

function blocksOf(node: tree.Expression): readonly tree.Block[] {
  switch (node.kind) {
    case 'If':
      return node.alternate === null ? [node.consequent] : [node.consequent, node.alternate]
    case 'Switch':
      return node.cases.map(({ body }) => body)
    case 'For':
    case 'ForIn':
    case 'While':
    case 'Once':
      return [node.body]
    default:
      return NO_BLOCKS
  }
}
const NO_BLOCKS: readonly tree.Block[] = []
