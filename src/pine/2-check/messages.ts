// Everything the checker can say, in one place: what was expected, what was found, what to write instead.
//
// A message is a function of what is in it; `tests/pine/checker.test.ts` shows each one.

import type { Severity } from '../diagnostic.ts'
import type { PineVersion } from '../runtime/runtime.ts'

export interface Message {
  readonly severity: Severity
  readonly code: string
  readonly message: string
  readonly hint?: string
}

function error(code: string, message: string, hint?: string | null): Message {
  return { severity: 'error', code, message, ...(hint ? { hint } : {}) }
}
function warning(code: string, message: string, hint?: string | null): Message {
  return { severity: 'warning', code, message, ...(hint ? { hint } : {}) }
}
/** What runs here but not there, so that a script can go back. */
export const notOnTradingView = (why: string, hint?: string): Message =>
  warning('not-on-tradingview', `TradingView refuses this: ${why}`, hint)
function didYouMean(name: string | null): string | null {
  return name === null ? null : `did you mean \`${name}\`?`
}
function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}

// Names

export const undeclaredName = (name: string, near: string | null): Message =>
  error('undeclared-name', `\`${name}\` is not declared`, didYouMean(near))
export const undeclaredFunction = (name: string, near: string | null): Message =>
  error('undeclared-function', `there is no function \`${name}\``, didYouMean(near))
export const renamed = (name: string, now: string, since: PineVersion): Message =>
  error('renamed', `there is no \`${name}\` in this version`, `\`${name}\` is \`${now}\` since v${since}`)
export const notAValue = (name: string): Message =>
  error('not-a-value', `\`${name}\` is a function`, `call it: \`${name}(…)\``)
export const notAFunction = (name: string): Message =>
  error('not-a-function', `\`${name}\` is not a function`, 'only functions and methods can be called')
export const unknownMember = (owner: string, name: string, near: string | null): Message =>
  error('unknown-member', `\`${owner}\` has no \`${name}\``, didYouMean(near))
export const usedBeforeDeclaration = (name: string): Message =>
  error('used-before-declaration', `\`${name}\` is used before it is declared`, 'move its declaration up')
export const alreadyDeclared = (name: string): Message =>
  error('already-declared', `\`${name}\` is already declared`, `to change its value write \`${name} := …\``)
export const assignedUndeclared = (name: string, near: string | null): Message =>
  error(
    'assigned-undeclared',
    `\`${name}\` is given a new value with \`:=\` but was never declared`,
    didYouMean(near) ?? `declare it first: \`${name} = …\``,
  )
export const methodOfNothing = (name: string): Message =>
  error(
    'method-of-nothing',
    `the first parameter of the method \`${name}\` has no type`,
    'write the type whose values it is a method of: `method area(Box this) => …`',
  )
export const declaredTwice = (what: string, name: string): Message =>
  error('declared-twice', `there is a ${what} \`${name}\` already`)
export const exportUntyped = (name: string): Message =>
  error(
    'export-untyped',
    `the parameter \`${name}\` of an exported function has no type`,
    `write it: \`float ${name}\``,
  )
export const globalInExport = (name: string): Message =>
  error(
    'global-in-export',
    `an exported function cannot use \`${name}\`: an input, a collection, or a variable that \`:=\` changes`,
    'make it a parameter',
  )
export const inputInExport = (): Message =>
  error('input-in-export', 'an exported function has no inputs', 'make it a parameter')
export const parameterInExportedRequest = (): Message =>
  error(
    'parameter-in-exported-request',
    'what an exported function asks for with request.*() cannot depend on its parameters',
    'symbol and timeframe may; write the expression without them',
  )
export const typeNotExported = (name: string): Message =>
  error(
    'type-not-exported',
    `what is exported uses the type \`${name}\`, which is not`,
    `export it: \`export type ${name}\``,
  )
export const loopInRequest = (name: string): Message =>
  error(
    'loop-in-request',
    `what request.*() evaluates cannot depend on \`${name}\`, which is another in each round of the loop`,
    'symbol and timeframe may; work with what it gives afterwards',
  )
export const declaredInside = (kind: string): Message =>
  error(
    'declared-inside',
    `${{ FunctionDeclaration: 'a function', TypeDeclaration: 'a type', EnumDeclaration: 'an enum' }[kind] ?? 'an import'} cannot be declared inside a block or a function`,
    'move it to the top of the script',
  )
export const nothingExported = (): Message =>
  error('nothing-exported', 'the library exports nothing', 'start what others shall use with `export`')
export const exportOutsideLibrary = (): Message =>
  error('export-outside-library', 'only a library exports', 'declare the script with `library("…")`')
export const mapKey = (found: string): Message =>
  error(
    'map-key',
    `the keys of a map cannot be of the type ${found}`,
    'use int, float, bool, string, color or an enum',
  )
export const functionTwice = (name: string): Message =>
  error('function-twice', `a function \`${name}\` with these parameters exists already`)
export const typeTwice = (name: string): Message => error('type-twice', `a type \`${name}\` exists already`)
export const unknownType = (name: string, near: string | null): Message =>
  error('unknown-type', `there is no type \`${name}\``, didYouMean(near))
export const typeArgumentCount = (name: string, expected: number, found: number): Message =>
  error('type-argument-count', `\`${name}\` takes ${count(expected, 'type')} in <>, not ${found}`)
export const recursion = (name: string): Message =>
  error('recursion', `\`${name}\` calls itself`, 'Pine has no recursion: use a loop')
export const tooManyCalls = (): Message =>
  error('too-many-calls', 'functions call one another too deep here', 'use fewer functions within functions')
export const tooManyLoops = (most: number): Message =>
  error(
    'too-many-loops',
    `more than ${most} loops stand within one another here`,
    'give the inner ones to a function',
  )

// Values and types

export const typeMismatch = (name: string, expected: string, found: string): Message =>
  error('type-mismatch', `\`${name}\` is ${expected}, it cannot take ${found}`)
export const declaredQualifier = (name: string, declared: string, found: string): Message =>
  error('declared-qualifier', `\`${name}\` is declared ${declared}, it cannot be ${found}`)
export const naWithoutType = (name: string): Message =>
  error('na-without-type', `na says nothing of the type of \`${name}\``, `write it: \`float ${name} = na\``)
export const naBool = (): Message =>
  error('na-bool', 'a bool is never na since v6', 'use false, or an int that is na')
export const boolIsNeverNa = (fn: string): Message =>
  error('bool-never-na', `\`${fn}\` takes no bool: a bool is never na since v6`, 'use the bool itself')
export const voidValue = (): Message =>
  error('void-value', 'this has no value', 'it can only stand alone as a statement')
export const tupleValue = (): Message =>
  error('tuple-value', 'this gives several values', 'take them apart: `[a, b] = …`')
export const tupleUnused = (name: string): Message =>
  warning(
    'tuple-unused',
    `\`${name}\` is given several values, so nothing can read it`,
    'take them apart: `[a, b] = …`',
  )
export const notATuple = (found: string): Message =>
  error('not-a-tuple', `several values were expected, found ${found}`)
export const tupleCount = (expected: number, found: number): Message =>
  error('tuple-count', `this gives ${count(found, 'value')}, but ${count(expected, 'name')} are on the left`)
export const operandTypes = (operator: string, left: string, right: string): Message =>
  error('operand-types', `\`${operator}\` cannot work on ${left} and ${right}`)
export const operandType = (operator: string, found: string): Message =>
  error('operand-type', `\`${operator}\` cannot work on ${found}`)
export const notABool = (found: string, version: PineVersion): Message =>
  error(
    'not-a-bool',
    `a condition is a bool, found ${found}`,
    version === 6 && (found.endsWith('int') || found.endsWith('float'))
      ? 'numbers are no conditions since v6: compare it, or write `bool(…)`'
      : null,
  )
export const branchTypes = (first: string, other: string): Message =>
  error('branch-types', `one branch gives ${first}, another ${other}`, 'all have to give the same type')
export const notANumber = (what: string, found: string): Message =>
  error('not-a-number', `${what} is a number, found ${found}`)
export const notACollection = (found: string): Message =>
  error('not-a-collection', `only an array, a matrix or a map can be gone through, found ${found}`)
export const mapNeedsBoth = (): Message =>
  error('map-needs-both', 'a map is gone through by key and value', 'write `for [key, value] in …`')
export const historyOfVoid = (found: string): Message =>
  error('no-history', `${found} has no past to look at with []`)
export const historyOfField = (name: string): Message =>
  error(
    'no-field-history',
    `a field has no past of its own since v6: [] cannot stand after \`.${name}\``,
    `look at the object’s past: \`(object[1]).${name}\``,
  )
export const notAnObject = (name: string, found: string): Message =>
  error('not-an-object', `${found} has no field \`${name}\``)
export const notAssignable = (): Message =>
  error('not-assignable', 'only a variable or a field of an object can take a new value')
export const noMethod = (name: string, type: string, near: string | null): Message =>
  error('no-method', `${type} has no method \`${name}\``, didYouMean(near))
export const globalFromFunction = (name: string): Message =>
  error('global-from-function', `\`${name}\` belongs to the script: a function cannot change it`)
export const constAssigned = (name: string): Message =>
  error('const-assigned', `\`${name}\` is declared const: it cannot change`, 'declare it without `const`')
export const parameterAssigned = (name: string): Message =>
  error(
    'parameter-assigned',
    `\`${name}\` is a parameter: a function cannot change it`,
    `declare a variable of its own: \`float value = ${name}\``,
  )
export const jumpOutsideLoop = (word: string): Message =>
  error('jump-outside-loop', `\`${word}\` stands outside a loop`)

export const shadowed = (name: string): Message =>
  warning(
    'shadowed',
    `this declares another \`${name}\` inside the block, the outer one stays as it was`,
    `to change the outer one write \`${name} := …\``,
  )
export const comparedWithNa = (operator: string): Message =>
  warning(
    'compared-with-na',
    `\`${operator}\` with na is never true`,
    operator === '==' ? 'write `na(x)`' : 'write `not na(x)`',
  )
export const conditionalCall = (name: string): Message =>
  warning(
    'conditional-call',
    `\`${name}\` looks at the bars before, but is not called on every bar here`,
    'give its value a name outside the block and use that',
  )

// Arguments

export const unknownArgument = (fn: string, name: string, near: string | null): Message =>
  error('unknown-argument', `\`${fn}\` has no parameter \`${name}\``, didYouMean(near))
export const missingArgument = (fn: string, name: string): Message =>
  error('missing-argument', `\`${fn}\` needs \`${name}\``)
export const tooManyArguments = (fn: string, most: number, found: number): Message =>
  error('too-many-arguments', `\`${fn}\` takes at most ${count(most, 'argument')}, found ${found}`)
export const duplicateArgument = (fn: string, name: string): Message =>
  error('duplicate-argument', `\`${name}\` of \`${fn}\` is given twice`)
export const positionalAfterNamed = (): Message =>
  error('positional-after-named', 'an argument without a name comes before those with names')
export const argumentType = (fn: string, name: string, expected: string, found: string): Message =>
  error('argument-type', `\`${name}\` of \`${fn}\` is ${expected}, found ${found}`)
export const argumentQualifier = (fn: string, name: string, expected: string, found: string): Message =>
  error(
    'argument-qualifier',
    `\`${name}\` of \`${fn}\` is ${expected}, found ${found}`,
    expected.startsWith('const')
      ? 'it has to be known when the script is compiled'
      : expected.startsWith('input')
        ? 'it may come from an input, but not change while the script runs'
        : 'it may not change from bar to bar',
  )
export const notConstant = (fn: string, name: string): Message =>
  error('not-constant', `\`${name}\` of \`${fn}\` has to be known when the script is compiled`)
/** What a built-in says of constants it cannot take. */
export const constantRefused = (why: string): Message => error('constant-refused', why)

// The script as a whole

export const noDeclaration = (version: PineVersion): Message =>
  error(
    'no-declaration',
    'the script does not say what it is',
    version === 4
      ? 'start with `strategy("…")` or `study("…")`'
      : 'start with `strategy("…")` or `indicator("…")`',
  )
export const declarationTwice = (): Message =>
  error('declaration-twice', 'the script says a second time what it is')
export const notInLocalScope = (name: string): Message =>
  error(
    'not-in-local-scope',
    `\`${name}\` can only be called at the top of the script`,
    'call it outside if, for and functions, and pass na where nothing is to be shown',
  )
export const strategyOnly = (name: string): Message =>
  error('strategy-only', `\`${name}\` works in a strategy only`, 'declare the script with `strategy("…")`')
export const libraryNotFound = (path: string): Message =>
  error(
    'library-not-found',
    `there is no library ${path} here`,
    `add the library: save its source as a script with the name ${path}`,
  )
export const libraryBroken = (path: string, line: number, why: string): Message =>
  error('library-broken', `the library ${path} has an error in line ${line}: ${why}`)
export const notExported = (alias: string, name: string): Message =>
  error('not-exported', `\`${name}\` of \`${alias}\` is not exported`)
export const tooManyTupleElements = (most: number): Message =>
  notOnTradingView(
    `with it the script asks for more than ${most} elements of tuples with request.*()`,
    'ask for an object of a type of your own instead',
  )
export const tooManyRequests = (most: number): Message =>
  notOnTradingView(
    `with it the script calls request.*() in more than ${most} different ways`,
    'ask for several values at once, as a tuple or an object of a type of your own',
  )
export const tooManyVariables = (most: number): Message =>
  notOnTradingView(
    `it is one variable more than the ${most.toLocaleString('en')} a scope may have`,
    'move some into a function or a block',
  )
export const moreDiagnostics = (severity: Severity, more: number): Message => ({
  severity,
  code: 'more-diagnostics',
  message: `there ${more === 1 ? 'is' : 'are'} ${more.toLocaleString('en')} more`,
  hint: 'mend the first ones; others often come from them',
})
export const scriptTooLarge = (most: number): Message =>
  error(
    'script-too-large',
    `the script has more than ${most.toLocaleString('en')} expressions, those in each copy of a function counted`,
    'call functions with fewer different types of arguments, or split the script',
  )
export const tooManyCopies = (name: string, most: number): Message =>
  error(
    'too-many-copies',
    `\`${name}\` is called with more than ${most} different lists of argument types`,
    'give its parameters types and qualifiers: `f(series float x) => …`',
  )
export const tooManyCopiesInAll = (most: number): Message =>
  error(
    'too-many-copies',
    `functions are called with more than ${most.toLocaleString('en')} different lists of argument types in all`,
    'give their parameters types and qualifiers: `f(series float x) => …`',
  )
export const tooManyOverloads = (name: string, most: number): Message =>
  error(
    'too-many-overloads',
    `there are more than ${most} functions called \`${name}\``,
    'give some of them another name',
  )
export const tooManyParameters = (name: string, most: number): Message =>
  error(
    'too-many-parameters',
    `\`${name}\` has more than ${most} parameters`,
    'hand them over as the fields of an object or as an array',
  )
export const tooManyMembers = (name: string, what: 'fields' | 'members', most: number): Message =>
  error(
    'too-many-members',
    `\`${name}\` has more than ${most.toLocaleString('en')} ${what}`,
    'split it into several, or use an array or a map',
  )
export const typeTooDeep = (name: string): Message =>
  error(
    'type-too-deep',
    `the types of the arguments of \`${name}\` are collections within collections, too deep`,
    'put the inner collections into the fields of a type',
  )
export const tooManyPlots = (most: number): Message =>
  notOnTradingView(
    `with it the script plots more than ${most} series`,
    'a colour that changes from bar to bar counts as one too; lines, labels and tables do not',
  )
export const noDataSource = (name: string): Message =>
  warning('no-data-source', `there is no data for \`${name}\` here: it is always na`)

// What TradingView refuses, but runs here

export const calledAbove = (name: string): Message =>
  notOnTradingView(`\`${name}\` is called above its declaration`, 'move the function up')
export const nestedCollection = (found: string): Message =>
  notOnTradingView(
    `${found} is a collection of collections`,
    'put the inner one into a field of a type of your own',
  )
export const naOfBool = (): Message =>
  notOnTradingView('`na()` takes no bool since v6', 'a bool is never na: use the bool itself')
export const mapWithoutTypes = (): Message =>
  notOnTradingView('the types of keys and values are missing', 'write `map.new<string, float>()`')
export const defaultOutside = (value: number, name: 'minval' | 'maxval', bound: number): Message =>
  notOnTradingView(`the default ${value} is ${name === 'minval' ? 'below' : 'above'} the ${name} ${bound}`)
export const defaultNotAnOption = (value: string): Message =>
  notOnTradingView(`the default ${value} is not among the options`)
export const noOutput = (): Message =>
  notOnTradingView('the script shows nothing', 'plot something, or draw a line, a label or a table')
