// A tree as one line of text, for tables of expected results.

import type {
  Block,
  Expression,
  Parameter,
  Script,
  Statement,
  TypeNode,
} from '../../src/language/1-parse/tree.ts'

export function scriptText(script: Script): string {
  return script.statements.map(statementText).join('; ')
}

function statementText(node: Statement): string {
  switch (node.kind) {
    case 'VariableDeclaration': {
      const words = [
        node.exported ? 'export' : '',
        node.mode === 'plain' ? '' : node.mode,
        typeText(node.type),
      ]
      return `${words.filter(Boolean).concat(node.name.name).join(' ')} = ${text(node.value)}`
    }
    case 'TupleDeclaration':
      return `[${node.names.map(({ name }) => name).join(' ')}] = ${text(node.value)}`
    case 'Assignment':
      return `${text(node.target)} ${node.operator} ${text(node.value)}`
    case 'ExpressionStatement':
      return text(node.expression)
    case 'FunctionDeclaration': {
      const words = [node.exported ? 'export ' : '', node.method ? 'method ' : ''].join('')
      return `${words}${node.name.name}(${node.parameters.map(parameterText).join(', ')}) => ${block(node.body)}`
    }
    case 'TypeDeclaration': {
      const fields = node.fields.map((field) => `${field.varip ? 'varip ' : ''}${parameterText(field)}`)
      return `${node.exported ? 'export ' : ''}type ${node.name.name} {${fields.join('; ')}}`
    }
    case 'EnumDeclaration': {
      const members = node.members.map(({ name, title }) =>
        title ? `${name.name} = ${text(title)}` : name.name,
      )
      return `${node.exported ? 'export ' : ''}enum ${node.name.name} {${members.join('; ')}}`
    }
    case 'Import':
      return `import ${node.user}/${node.library}/${node.version}${node.alias ? ` as ${node.alias.name}` : ''}`
    default:
      return node.kind.toLowerCase()
  }
}

function parameterText(node: Pick<Parameter, 'name' | 'type' | 'default'>): string {
  const name = node.type ? `${typeText(node.type)} ${node.name.name}` : node.name.name
  return node.default ? `${name} = ${text(node.default)}` : name
}

function typeText(node: TypeNode | null): string {
  if (!node) return ''
  const args = node.arguments.length > 0 ? `<${node.arguments.map(typeText).join(', ')}>` : ''
  return [node.qualifier, `${node.name}${args}`].filter(Boolean).join(' ')
}

function block(node: Block): string {
  return `{${node.statements.map(statementText).join('; ')}}`
}

function text(node: Expression): string {
  switch (node.kind) {
    case 'Number':
      return `${node.value}${!node.isInt && Number.isInteger(node.value) ? '.' : ''}`
    case 'String':
      return JSON.stringify(node.value)
    case 'Bool':
      return String(node.value)
    case 'Color':
      return `#${node.value.toString(16).padStart(8, '0')}`
    case 'Identifier':
      return node.name
    case 'Member':
      return `${text(node.object)}.${node.property.name}`
    case 'Call': {
      const args = node.arguments.map(({ name, value }) =>
        name ? `${name.name}=${text(value)}` : text(value),
      )
      const types = node.typeArguments.length > 0 ? `<${node.typeArguments.map(typeText).join(', ')}>` : ''
      return `${text(node.callee)}${types}(${args.join(', ')})`
    }
    case 'Index':
      return `${text(node.object)}[${text(node.index)}]`
    case 'Unary':
      return `(${node.operator} ${text(node.operand)})`
    case 'Binary':
      return `(${text(node.left)} ${node.operator} ${text(node.right)})`
    case 'Ternary':
      return `(${text(node.test)} ? ${text(node.consequent)} : ${text(node.alternate)})`
    case 'Tuple':
      return `[${node.items.map(text).join(' ')}]`
    case 'If':
      return `if ${text(node.test)} ${block(node.consequent)}${node.alternate ? ` else ${block(node.alternate)}` : ''}`
    case 'Switch': {
      const cases = node.cases.map(({ test, body }) => `${test ? `${text(test)} ` : ''}=> ${block(body)}`)
      return `switch ${node.subject ? `${text(node.subject)} ` : ''}{${cases.join('; ')}}`
    }
    case 'For': {
      const counter = node.counterType
        ? `${typeText(node.counterType)} ${node.counter.name}`
        : node.counter.name
      const by = node.by ? ` by ${text(node.by)}` : ''
      return `for ${counter} = ${text(node.from)} to ${text(node.to)}${by} ${block(node.body)}`
    }
    case 'ForIn': {
      const names = node.index ? `[${node.index.name} ${node.value.name}]` : node.value.name
      return `for ${names} in ${text(node.collection)} ${block(node.body)}`
    }
    case 'While':
      return `while ${text(node.test)} ${block(node.body)}`
    case 'Once':
      return `once ${node.test ? `${text(node.test)} ` : ''}${block(node.body)}`
    default:
      return '?!'
  }
}
