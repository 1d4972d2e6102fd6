// The parser's messages about a text that is not Pine.

import { error, warning, type Message } from './message.ts'

/** What replaces an operator of other languages. */
const OPERATOR_HINTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '||': 'Use `or`.',
    '&&': 'Use `and`.',
    '!': 'Use `not`.',
    '=<': 'Use `<=`.',
    '=>': 'Use `>=` to compare; `=>` starts the body of a function or of a switch case.',
    '===': 'Use `==`.',
    '!==': 'Use `!=`.',
    '<>': 'Use `!=`.',
    '**': 'Use `math.pow(x, y)`.',
    '++': 'Use `x += 1`.',
    '--': 'Use `x -= 1`.',
    '=': 'Use `==` to compare, `:=` to give a variable a new value.',
    ':': 'A block starts without a colon. `=` declares a variable, `:=` gives it a new value.',
    ';': 'Write one statement a line, or put a comma between them.',
    '{': 'A block is indented by four spaces or a tab; there are no braces.',
    '}': 'A block is indented by four spaces or a tab; there are no braces.',
    '&': 'Use `and`.',
    '|': 'Use `or`.',
    '^': 'Use `math.pow(x, y)`.',
  }),
)

/** Words that start a line in other languages. */
const WORD_HINTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    elif: 'Write `else if`.',
    elseif: 'Write `else if`.',
    elsif: 'Write `else if`.',
    def: 'A function is declared as `f(x) => x * 2`.',
    func: 'A function is declared as `f(x) => x * 2`.',
    function: 'A function is declared as `f(x) => x * 2`.',
  }),
)

/** What a token is for. */
const TOKEN_HINTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '=': 'A variable starts with a value, which may be `na`.',
    '=>': 'A case is written as `value => result`.',
    to: 'Write `for i = 0 to 10`.',
    in: 'Write `for x in xs`.',
  }),
)

// Characters and literals

export const unknownCharacter = (character: string): Message =>
  error('unknown-character', `\`${character}\` means nothing here.`, OPERATOR_HINTS.get(character))
export const unterminatedString = (quote: string): Message =>
  error(
    'unterminated-string',
    `The string is not closed: \`${quote}\` is missing.`,
    'Write `\\"` for a quote within a string.',
  )
export const curlyQuote = (): Message =>
  error(
    'curly-quote',
    'A string starts with a straight quote, not with a typographic one.',
    'Use `"` or `\'`.',
  )
export const blockComment = (): Message =>
  error('block-comment', 'There are no comments over several lines.', 'Start each line with `//`.')
export const malformedNumber = (text: string): Message =>
  error(
    'malformed-number',
    `\`${text}\` is not a number.`,
    'A name cannot start with a digit; numbers look like 10, 0.5 or 1e-3.',
  )
export const malformedColor = (text: string): Message =>
  error('malformed-color', `\`${text}\` is not a colour.`, 'Write #RRGGBB, or #RRGGBBAA with transparency.')

// Lines and blocks

export const mixedIndent = (): Message =>
  warning(
    'mixed-indent',
    'Spaces before a tab: the line may not be in the block it seems to be in.',
    'Indent with four spaces a level, or with tabs, not both.',
  )
export const indentWidth = (found: number): Message =>
  error(
    'indent-width',
    `A block is indented by four spaces or a tab a level; this line has ${found}.`,
    'A line indented by anything else continues the line before it.',
  )
export const unexpectedIndent = (): Message =>
  error(
    'unexpected-indent',
    'The line is indented, but no block starts before it.',
    'To continue the line before, indent by a number of spaces that is not a multiple of four.',
  )
export const wrapIndent = (): Message =>
  warning(
    'wrap-indent',
    'A wrapped line cannot be indented by a multiple of four spaces.',
    'Add or take away a space, or put the expression in parentheses.',
  )
export const missingBody = (header: string): Message =>
  error(
    'missing-body',
    `Expected an indented block after \`${header}\`.`,
    'Indent what belongs to it by four spaces or a tab.',
  )
export const bodyOnNewLine = (header: string): Message =>
  error(
    'body-on-new-line',
    `What belongs to \`${header}\` starts on a new line.`,
    'Indent it by four spaces or a tab.',
  )
export const misplacedElse = (): Message =>
  error('misplaced-else', '`else` belongs to no `if`.', '`else` starts a line indented as its `if` is.')

// Expressions

export const expectedExpression = (found: string): Message =>
  error('expected-expression', `Expected a value, found ${found}.`)
export const wrongOperator = (operator: string): Message =>
  error('wrong-operator', `\`${operator}\` is no operator of Pine.`, OPERATOR_HINTS.get(operator))
export const unclosedBracket = (bracket: string, closing: string): Message =>
  error('unclosed-bracket', `\`${bracket}\` is never closed: \`${closing}\` is missing.`)
export const missingComma = (closing: string, found: string): Message =>
  error('missing-comma', `Expected a comma or \`${closing}\`, found ${found}.`)
export const unopenedBracket = (bracket: string): Message =>
  error('unopened-bracket', `\`${bracket}\` closes nothing.`)
export const missingColon = (found: string): Message =>
  error(
    'missing-colon',
    `Expected \`:\` and the other value after \`?\`, found ${found}.`,
    'Write `condition ? a : b`.',
  )
export const blockInExpression = (keyword: string): Message =>
  error(
    'block-in-expression',
    `\`${keyword}\` cannot stand within an expression.`,
    `Give its value to a variable first: \`x = ${keyword} …\`. For a condition use \`a ? b : c\`.`,
  )
export const tooDeep = (): Message =>
  error(
    'too-deep',
    'The expression or the blocks are nested too deeply.',
    'Give parts of it to variables or functions.',
  )

// Statements

export const expectedLineEnd = (found: string, text: string, firstWord: string): Message =>
  error(
    'expected-line-end',
    `Expected the end of the line, found ${found}.`,
    WORD_HINTS.get(firstWord) ??
      OPERATOR_HINTS.get(text) ??
      'An operator, a comma or a bracket may be missing before it.',
  )
export const expectedName = (what: string, found: string): Message =>
  error('expected-name', `Expected the name of ${what}, found ${found}.`)
export const expectedType = (found: string): Message =>
  error(
    'expected-type',
    `Expected a type, found ${found}.`,
    'Types look like float, simple int, array<float> or library.Trade.',
  )
export const expectedToken = (expected: string, after: string, found: string): Message =>
  error(
    'expected-token',
    `Expected \`${expected}\` after ${after}, found ${found}.`,
    TOKEN_HINTS.get(expected),
  )
export const missingArrow = (name: string, found: string): Message =>
  error(
    'missing-arrow',
    `Expected \`=>\` after the parameters of \`${name}\`, found ${found}.`,
    'A function is declared as `f(x) => x * 2`.',
  )
export const noReturn = (): Message =>
  error(
    'no-return',
    'There is no `return`: a function gives back its last value.',
    'Write the value alone on the last line.',
  )
export const notADeclaration = (): Message =>
  error(
    'not-a-declaration',
    '`=` declares a variable, and this is not the name of one.',
    'Use `:=` to give it a new value.',
  )
export const malformedImport = (): Message =>
  error(
    'malformed-import',
    'The library to import is not named as user/library/version.',
    'Write `import TradingView/ta/7 as tv`.',
  )
export const notExportable = (): Message =>
  error('not-exportable', 'Only functions, methods, types, enums and constants can be exported.')
