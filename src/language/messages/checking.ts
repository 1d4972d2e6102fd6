// The checker's messages about a script that can be read, but makes no sense or would be refused by TradingView.

import type { Severity } from '../diagnostic.ts'
import { error, notOnTradingView, warning, type Message } from './message.ts'

function didYouMean(name: string | null): string | null {
  return name === null ? null : `Did you mean \`${name}\`?`
}
function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}

// Names

export const undeclaredName = (name: string, near: string | null): Message =>
  error('undeclared-name', `\`${name}\` is not declared.`, didYouMean(near))
export const undeclaredFunction = (name: string, near: string | null): Message =>
  error('undeclared-function', `There is no function \`${name}\`.`, didYouMean(near))
export const renamed = (name: string, now: string, since: number): Message =>
  error('renamed', `There is no \`${name}\` in this version.`, `\`${name}\` is \`${now}\` since v${since}.`)
export const notAValue = (name: string): Message =>
  error('not-a-value', `\`${name}\` is a function.`, `Call it: \`${name}(…)\`.`)
export const notAFunction = (name: string): Message =>
  error('not-a-function', `\`${name}\` is not a function.`, 'Only functions and methods can be called.')
export const unknownMember = (owner: string, name: string, near: string | null): Message =>
  error('unknown-member', `\`${owner}\` has no \`${name}\`.`, didYouMean(near))
export const usedBeforeDeclaration = (name: string): Message =>
  error('used-before-declaration', `\`${name}\` is used before it is declared.`, 'Move its declaration up.')
export const alreadyDeclared = (name: string): Message =>
  error('already-declared', `\`${name}\` is already declared.`, `To change its value write \`${name} := …\`.`)
export const assignedUndeclared = (name: string, near: string | null): Message =>
  error(
    'assigned-undeclared',
    `\`${name}\` is given a new value with \`:=\` but was never declared.`,
    didYouMean(near) ?? `Declare it first: \`${name} = …\`.`,
  )
export const methodOfNothing = (name: string): Message =>
  error(
    'method-of-nothing',
    `The first parameter of the method \`${name}\` has no type.`,
    'Write the type whose values it is a method of: `method area(Box this) => …`.',
  )
export const declaredTwice = (what: string, name: string): Message =>
  error('declared-twice', `There is a ${what} \`${name}\` already.`, 'Give one of them another name.')
export const exportUntyped = (name: string): Message =>
  error(
    'export-untyped',
    `The parameter \`${name}\` of an exported function has no type.`,
    `Write it: \`float ${name}\`.`,
  )
export const globalInExport = (name: string): Message =>
  error(
    'global-in-export',
    `An exported function cannot use \`${name}\`: an input, a collection, or a variable that \`:=\` changes.`,
    'Make it a parameter.',
  )
export const inputInExport = (): Message =>
  error('input-in-export', 'An exported function has no inputs.', 'Make it a parameter.')
export const parameterInExportedRequest = (): Message =>
  error(
    'parameter-in-exported-request',
    'What an exported function asks for with request.*() cannot depend on its parameters.',
    'Symbol and timeframe may; write the expression without them.',
  )
export const typeNotExported = (name: string): Message =>
  error(
    'type-not-exported',
    `What is exported uses the type \`${name}\`, which is not.`,
    `Export it: \`export type ${name}\`.`,
  )
export const loopInRequest = (name: string): Message =>
  error(
    'loop-in-request',
    `What request.*() evaluates cannot depend on \`${name}\`, which changes in each round of the loop.`,
    'Symbol and timeframe may; work with what it gives afterwards.',
  )
export const declaredInside = (kind: string): Message =>
  error(
    'declared-inside',
    `${{ FunctionDeclaration: 'A function', TypeDeclaration: 'A type', EnumDeclaration: 'An enum' }[kind] ?? 'An import'} cannot be declared inside a block or a function.`,
    'Move it to the top of the script.',
  )
export const nothingExported = (): Message =>
  error('nothing-exported', 'The library exports nothing.', 'Start what others are to use with `export`.')
export const exportOutsideLibrary = (): Message =>
  error('export-outside-library', 'Only a library exports.', 'Declare the script with `library("…")`.')
export const mapKey = (found: string): Message =>
  error(
    'map-key',
    `The keys of a map cannot be of the type ${found}.`,
    'Use int, float, bool, string, color or an enum.',
  )
export const functionTwice = (name: string): Message =>
  error(
    'function-twice',
    `A function \`${name}\` with these parameters exists already.`,
    'Give one of them another name or other parameters.',
  )
export const typeTwice = (name: string): Message =>
  error('type-twice', `A type \`${name}\` exists already.`, 'Give one of them another name.')
export const unknownType = (name: string, near: string | null): Message =>
  error('unknown-type', `There is no type \`${name}\`.`, didYouMean(near))
export const typeArgumentCount = (name: string, expected: number, found: number): Message =>
  error('type-argument-count', `\`${name}\` takes ${count(expected, 'type')} in <>, not ${found}.`)
export const recursion = (name: string): Message =>
  error('recursion', `\`${name}\` calls itself.`, 'Pine has no recursion: use a loop.')
export const tooManyCalls = (): Message =>
  error(
    'too-many-calls',
    'Functions call one another too deeply here.',
    'Use fewer functions within functions.',
  )
export const tooManyLoops = (most: number): Message =>
  error(
    'too-many-loops',
    `More than ${most} loops stand within one another here.`,
    'Give the inner ones to a function.',
  )

// Values and types

export const typeMismatch = (name: string, expected: string, found: string): Message =>
  error('type-mismatch', `\`${name}\` is ${expected} and cannot take ${found}.`)
export const declaredQualifier = (name: string, declared: string, found: string): Message =>
  error('declared-qualifier', `\`${name}\` is declared ${declared} and cannot be ${found}.`)
export const naWithoutType = (name: string): Message =>
  error(
    'na-without-type',
    `\`na\` says nothing of the type of \`${name}\`.`,
    `Write it: \`float ${name} = na\`.`,
  )
export const naBool = (): Message =>
  error('na-bool', 'A bool is never na since v6.', 'Use false, or an int that is na.')
export const boolIsNeverNa = (fn: string): Message =>
  error(
    'bool-never-na',
    `\`${fn}\` takes no bool (CE10123): a bool is never na since v6.`,
    'Use the bool itself.',
  )
export const voidValue = (): Message =>
  error('void-value', 'This has no value.', 'It can only stand alone as a statement.')
export const tupleValue = (): Message =>
  error('tuple-value', 'This gives several values.', 'Take them apart: `[a, b] = …`.')
export const tupleUnused = (name: string): Message =>
  warning(
    'tuple-unused',
    `\`${name}\` is given several values, so nothing can read it.`,
    'Take them apart: `[a, b] = …`.',
  )
export const notATuple = (found: string): Message =>
  error('not-a-tuple', `Expected several values, found ${found}.`)
export const tupleCount = (expected: number, found: number): Message =>
  error(
    'tuple-count',
    `This gives ${count(found, 'value')}, but ${count(expected, 'name')} are on the left.`,
    'Write `_` for a value that is not needed.',
  )
export const operandTypes = (operator: string, left: string, right: string): Message =>
  error('operand-types', `\`${operator}\` cannot work on ${left} and ${right}.`)
export const operandType = (operator: string, found: string): Message =>
  error('operand-type', `\`${operator}\` cannot work on ${found}.`)
/** `code`: TradingView's, where it is known. */
export const notABool = (found: string, version: number, code: 'CE10101' | null): Message =>
  error(
    'not-a-bool',
    `Expected a bool as the condition, found ${found}${code === null ? '' : ` (${code})`}.`,
    version === 6 && (found.endsWith('int') || found.endsWith('float'))
      ? 'Numbers are no conditions since v6: compare the number, or write `bool(…)`.'
      : null,
  )
export const branchTypes = (first: string, other: string): Message =>
  error('branch-types', `One branch gives ${first}, another ${other}.`, 'All have to give the same type.')
export const notANumber = (what: string, found: string): Message =>
  error('not-a-number', `Expected a number for ${what}, found ${found}.`)
export const notACollection = (found: string): Message =>
  error('not-a-collection', `Expected an array, a matrix or a map to loop over, found ${found}.`)
export const mapNeedsBoth = (): Message =>
  error('map-needs-both', 'A loop over a map takes a key and a value.', 'Write `for [key, value] in …`.')
export const historyOfVoid = (found: string): Message =>
  error('no-history', `\`[]\` cannot look at the past of ${found}.`)
/** `name` is what stands behind the brackets; `code` is TradingView's. */
export const pastWithoutParentheses = (name: string, code: 'CE10010' | 'CE10011'): Message =>
  error(
    'past-without-parentheses',
    `\`.${name}\` cannot stand straight after [] (${code}).`,
    `Put the past into parentheses: \`(x[1]).${name}\`.`,
  )
export const historyOfField = (name: string): Message =>
  error(
    'no-field-history',
    `A field has no past of its own since v6: [] cannot stand after \`.${name}\` (CE10290).`,
    `Look at the object’s past: \`(object[1]).${name}\`.`,
  )
export const notAnObject = (name: string, found: string): Message =>
  error('not-an-object', `There is no field \`${name}\` in ${found}.`)
export const notAssignable = (): Message =>
  error('not-assignable', 'Only a variable or a field of an object can take a new value.')
export const noMethod = (name: string, type: string, near: string | null): Message =>
  error('no-method', `There is no method \`${name}\` of ${type}.`, didYouMean(near))
export const globalFromFunction = (name: string): Message =>
  error(
    'global-from-function',
    `\`${name}\` belongs to the script: a function cannot change it.`,
    'Let the function give the new value back, and assign it outside.',
  )
export const constAssigned = (name: string): Message =>
  error('const-assigned', `\`${name}\` is declared const: it cannot change.`, 'Declare it without `const`.')
export const parameterAssigned = (name: string): Message =>
  error(
    'parameter-assigned',
    `\`${name}\` is a parameter: a function cannot change it.`,
    `Declare a variable of its own: \`float value = ${name}\`.`,
  )
export const jumpOutsideLoop = (word: string): Message =>
  error(
    'jump-outside-loop',
    `\`${word}\` stands outside a loop.`,
    'Put it into a `for` or a `while`, or leave it out.',
  )

export const shadowed = (name: string): Message =>
  warning(
    'shadowed',
    `This declares another \`${name}\` inside the block; the outer one stays as it was.`,
    `To change the outer one write \`${name} := …\`.`,
  )
export const comparedWithNa = (operator: string): Message =>
  warning(
    'compared-with-na',
    `\`${operator}\` with na is never true.`,
    operator === '==' ? 'Write `na(x)`.' : 'Write `not na(x)`.',
  )
export const comparesToNa = (operator: string): Message =>
  error(
    'compared-with-na',
    `\`${operator}\` cannot compare with na since v6 (CE10187).`,
    operator === '==' ? 'Write `na(x)`.' : 'Write `not na(x)`.',
  )
export const comparesObjects = (operator: string, found: string): Message =>
  error(
    'compares-objects',
    `\`${operator}\` cannot compare ${found} (CE10123).`,
    'Of objects only lines and labels compare. Compare a field, or a number of your own.',
  )
export const conditionalCall = (name: string): Message =>
  warning(
    'conditional-call',
    `\`${name}\` looks at the bars before, but is not called on every bar here.`,
    'Give its value a name outside the block and use that.',
  )

// Arguments

export const unknownArgument = (fn: string, name: string, near: string | null): Message =>
  error('unknown-argument', `\`${fn}\` has no parameter \`${name}\`.`, didYouMean(near))
export const missingArgument = (fn: string, name: string): Message =>
  error('missing-argument', `\`${fn}\` needs \`${name}\`.`, `Hand it over: \`${name} = …\`.`)
export const tooManyArguments = (fn: string, most: number, found: number): Message =>
  error('too-many-arguments', `\`${fn}\` takes at most ${count(most, 'argument')}, found ${found}.`)
export const duplicateArgument = (fn: string, name: string): Message =>
  error('duplicate-argument', `\`${name}\` of \`${fn}\` is given twice.`, 'Leave one of them out.')
export const positionalAfterNamed = (): Message =>
  error(
    'positional-after-named',
    'An argument without a name comes before those with names.',
    'Move it to the front, or name it.',
  )
export const argumentType = (fn: string, name: string, expected: string, found: string): Message =>
  error('argument-type', `Expected ${expected} for \`${name}\` of \`${fn}\`, found ${found} (CE10123).`)
export const argumentQualifier = (fn: string, name: string, expected: string, found: string): Message =>
  error(
    'argument-qualifier',
    `Expected ${expected} for \`${name}\` of \`${fn}\`, found ${found} (CE10123).`,
    expected.startsWith('const')
      ? 'It has to be known when the script is compiled.'
      : expected.startsWith('input')
        ? 'It may come from an input, but not change while the script runs.'
        : 'It may not change from bar to bar.',
  )
export const notWritable = (fn: string, found: string, code: 'CE10122' | 'CE10124'): Message =>
  error(
    'not-writable',
    `\`${fn}\` cannot write ${found} (${code}).`,
    'Hand over a number, a bool or a text: `str.tostring(…)` makes one.',
  )
export const notConstant = (fn: string, name: string): Message =>
  error(
    'not-constant',
    `\`${name}\` of \`${fn}\` has to be known when the script is compiled.`,
    'Write a constant, not an input or what comes from bars.',
  )
export const naForConstant = (fn: string, name: string): Message =>
  error(
    'argument-type',
    `\`${name}\` of \`${fn}\` cannot be na (CE10034).`,
    'Write a number, or leave it out.',
  )
/** How a built-in refuses constant arguments. */
export const outOfBounds = (name: string, least: number, most: number): Message =>
  error(
    'out-of-bounds',
    `\`${name}\` is ${most === Infinity ? `${least} at least` : `from ${least} to ${most}`}${name === 'occurrence' ? ' (CE10039)' : ''}.`,
  )
export const constantWanted = (fn: string, name: string, example: string): Message =>
  error(
    'constant-wanted',
    `\`${name}\` of \`${fn}\` is one of the constants made for it (CE10123).`,
    `Write one of them, such as \`${example}\`.`,
  )
export const titleIsText = (): Message => error('title-is-text', 'The title of a member is a text.')
export const constantRefused = (why: string): Message => error('constant-refused', why)

// The script as a whole

export const noDeclaration = (version: number): Message =>
  error(
    'no-declaration',
    'The script does not say what it is.',
    version === 4
      ? 'Start with `strategy("…")` or `study("…")`.'
      : 'Start with `strategy("…")` or `indicator("…")`.',
  )
export const noVersion = (): Message =>
  error(
    'no-version',
    'The text does not say which version of Pine it is, and what says none is of version 1, which this is not.',
    'Write `//@version=6`, or the version that it is, into the first line.',
  )
export const noSuchVersion = (version: number): Message =>
  error(
    'no-such-version',
    `There is no version ${version} of Pine.`,
    'Write `//@version=6`, or 1 to 5 for an older text.',
  )
export const declaredBelow = (name: string, isOwn: boolean): Message =>
  error(
    'declared-below',
    `\`${name}\` is ${isOwn ? 'made of itself on the same bar' : 'declared below'}, which only versions 1 and 2 allowed.`,
    isOwn ? `Write \`${name}[1]\` for its value on the bar before.` : 'Move its declaration above this line.',
  )
export const declarationTwice = (): Message =>
  error('declaration-twice', 'The script says a second time what it is.', 'Keep one declaration.')
export const notInLocalScope = (name: string): Message =>
  error(
    'not-in-local-scope',
    `\`${name}\` can only be called at the top of the script.`,
    'Call it outside if, for and functions, and pass na where nothing is to be shown.',
  )
export const strategyOnly = (name: string): Message =>
  error('strategy-only', `\`${name}\` works in a strategy only.`, 'Declare the script with `strategy("…")`.')
/** `bundled` says which versions of it every server has. */
export const libraryNotFound = (path: string, bundled = ''): Message =>
  error(
    'library-not-found',
    `There is no library ${path} here${bundled === '' ? '' : `, only versions ${bundled} of it`}.`,
    `${bundled === '' ? '' : `Import one of these, or add this version: `}Paste its source once, with the editor’s “Add the library” or with \`chartroom script add-library\`; or save it as a script with the name ${path}. Commands that run a script look for it beside the script and in \`--libraries FOLDER\`, as ${path.split('/').slice(0, 2).join('/')}.pine.`,
  )
export const importsItself = (path: string): Message =>
  error(
    'imports-itself',
    `The library ${path} imports itself, by way of this import.`,
    'Move what both need into a third library, or leave this import out.',
  )
export const tooManyImports = (most: number): Message =>
  error(
    'too-many-imports',
    `A text can import ${most} libraries; from this one on there are more.`,
    'Import only those that the script uses.',
  )
export const notInVersion = (path: string, name: string, first: string, last: string): Message =>
  error(
    'not-exported',
    `There is no \`${name}\` in ${path}, which versions ${first} to ${last} have.`,
    `Import version ${last} instead.`,
  )
export const libraryBroken = (path: string, line: number, why: string): Message =>
  error('library-broken', `The library ${path} has an error in line ${line}. ${why}`)
export const notExported = (alias: string, name: string): Message =>
  error(
    'not-exported',
    `\`${name}\` of \`${alias}\` is not exported.`,
    'In the library, start its declaration with `export`.',
  )
export const tooManyTupleElements = (most: number): Message =>
  notOnTradingView(
    `With it the script asks for more than ${most} elements of tuples with request.*().`,
    'Ask for an object of a type of your own instead.',
  )
export const tooManyRequests = (most: number): Message =>
  notOnTradingView(
    `With it the script calls request.*() in more than ${most} different ways.`,
    'Ask for several values at once, as a tuple or an object of a type of your own.',
  )
export const tooManyVariables = (most: number): Message =>
  notOnTradingView(
    `It is one variable more than the ${most.toLocaleString('en')} a scope may have.`,
    'Move some into a function or a block.',
  )
export const moreDiagnostics = (severity: Severity, more: number): Message =>
  (severity === 'error' ? error : warning)(
    'more-diagnostics',
    `There ${more === 1 ? 'is' : 'are'} ${more.toLocaleString('en')} more.`,
    'Mend the first ones; others often come from them.',
  )
export const scriptTooLarge = (most: number): Message =>
  error(
    'script-too-large',
    `The script has more than ${most.toLocaleString('en')} expressions, counting those in each copy of a function.`,
    'Call functions with fewer different types of arguments, or split the script.',
  )
export const tooManyCopies = (name: string, most: number): Message =>
  error(
    'too-many-copies',
    `\`${name}\` is called with more than ${most} different lists of argument types.`,
    'Give its parameters types and qualifiers: `f(series float x) => …`.',
  )
export const tooManyCopiesInAll = (most: number): Message =>
  error(
    'too-many-copies',
    `Functions are called with more than ${most.toLocaleString('en')} different lists of argument types in all.`,
    'Give their parameters types and qualifiers: `f(series float x) => …`.',
  )
export const tooManyOverloads = (name: string, most: number): Message =>
  error(
    'too-many-overloads',
    `There are more than ${most} functions called \`${name}\`.`,
    'Give some of them another name.',
  )
export const tooManyParameters = (name: string, most: number): Message =>
  error(
    'too-many-parameters',
    `\`${name}\` has more than ${most} parameters.`,
    'Hand them over as the fields of an object or as an array.',
  )
export const tooManyMembers = (name: string, what: 'fields' | 'members', most: number): Message =>
  error(
    'too-many-members',
    `\`${name}\` has more than ${most.toLocaleString('en')} ${what}.`,
    'Split it into several, or use an array or a map.',
  )
export const typeTooDeep = (name: string): Message =>
  error(
    'type-too-deep',
    `The arguments of \`${name}\` are collections within collections, nested too deeply.`,
    'Put the inner collections into the fields of a type.',
  )
export const tooManyPlots = (most: number): Message =>
  notOnTradingView(
    `With it the script plots more than ${most} series.`,
    'A colour that changes from bar to bar counts as one too; lines, labels and tables do not.',
  )
export const noDataSource = (name: string): Message =>
  warning('no-data-source', `There is no data for \`${name}\` here: it is always na.`)

export const nestedCollection = (found: string): Message =>
  error(
    'nested-collection',
    `A collection cannot hold collections, as ${found} does.`,
    'Put the inner one into a field of a type of your own.',
  )
export const mapWithoutTypes = (): Message =>
  error('map-without-types', 'The types of keys and values are missing.', 'Write `map.new<string, float>()`.')

// What TradingView refuses, but runs here

export const defaultOutside = (value: number, name: 'minval' | 'maxval', bound: number): Message =>
  notOnTradingView(
    `The default ${value} is ${name === 'minval' ? 'below' : 'above'} the ${name} ${bound}.`,
    'Change one of the two.',
  )
export const defaultNotAnOption = (value: string): Message =>
  notOnTradingView(`The default ${value} is not among the options.`, 'Add it to them, or choose one of them.')
export const exitOfNothing = (): Message =>
  notOnTradingView(
    'Nothing says when this exit fills, so that it does nothing, or trails without an offset.',
    'Give it a `profit`, `limit`, `loss` or `stop`, or `trail_offset` with `trail_price` or `trail_points`.',
  )
export const noOutput = (): Message =>
  notOnTradingView('The script shows nothing.', 'Plot something, or draw a line, a label or a table.')
