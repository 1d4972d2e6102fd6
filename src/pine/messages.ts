// Everything the parser can say, in one place: code, sentence, hint.
//
// The sentence tells what was expected and what was found, in words of the language, the hint what to write
// instead. `tests/pine/parser.test.ts` shows each one at least once.

export interface Message {
  readonly code: string
  readonly message: string
  readonly hint?: string
}

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

/** Words other languages start a line with. */
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

/** What the token is for. */
const TOKEN_HINTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '=': 'A variable starts with a value, which may be `na`.',
    '=>': 'A case is written as `value => result`.',
    to: 'Write `for i = 0 to 10`.',
    in: 'Write `for x in xs`.',
  }),
)

function withHint(code: string, message: string, hint: string | undefined): Message {
  return hint === undefined ? { code, message } : { code, message, hint }
}

export const MESSAGES = {
  // Characters and literals

  unknownCharacter: (character: string): Message =>
    withHint('unknown-character', `\`${character}\` means nothing here.`, OPERATOR_HINTS.get(character)),
  unterminatedString: (quote: string): Message => ({
    code: 'unterminated-string',
    message: `The string is not closed: \`${quote}\` is missing.`,
    hint: 'Write `\\"` for a quote within a string.',
  }),
  curlyQuote: (): Message => ({
    code: 'curly-quote',
    message: 'A string starts with a straight quote, not with a typographic one.',
    hint: 'Use `"` or `\'`.',
  }),
  blockComment: (): Message => ({
    code: 'block-comment',
    message: 'There are no comments over several lines.',
    hint: 'Start each line with `//`.',
  }),
  malformedNumber: (text: string): Message => ({
    code: 'malformed-number',
    message: `\`${text}\` is not a number.`,
    hint: 'A name cannot start with a digit; numbers look like 10, 0.5 or 1e-3.',
  }),
  malformedColor: (text: string): Message => ({
    code: 'malformed-color',
    message: `\`${text}\` is not a colour.`,
    hint: 'Write #RRGGBB, or #RRGGBBAA with transparency.',
  }),

  // Lines and blocks

  mixedIndent: (): Message => ({
    code: 'mixed-indent',
    message: 'Spaces before a tab: the line may not be in the block it seems to be in.',
    hint: 'Indent with four spaces a level, or with tabs, not both.',
  }),
  indentWidth: (found: number): Message => ({
    code: 'indent-width',
    message: `A block is indented by four spaces or a tab a level; this line has ${found}.`,
    hint: 'A line indented by anything else continues the line before it.',
  }),
  unexpectedIndent: (): Message => ({
    code: 'unexpected-indent',
    message: 'The line is indented, but no block starts before it.',
    hint: 'To continue the line before, indent by a number of spaces that is not a multiple of four.',
  }),
  wrapIndent: (): Message => ({
    code: 'wrap-indent',
    message: 'A wrapped line cannot be indented by a multiple of four spaces.',
    hint: 'Add or take away a space, or put the expression in parentheses.',
  }),
  missingBody: (header: string): Message => ({
    code: 'missing-body',
    message: `Expected an indented block after \`${header}\`.`,
    hint: 'Indent what belongs to it by four spaces or a tab.',
  }),
  bodyOnNewLine: (header: string): Message => ({
    code: 'body-on-new-line',
    message: `What belongs to \`${header}\` starts on a new line.`,
    hint: 'Indent it by four spaces or a tab.',
  }),
  misplacedElse: (): Message => ({
    code: 'misplaced-else',
    message: '`else` belongs to no `if`.',
    hint: '`else` starts a line indented as its `if` is.',
  }),

  // Expressions

  expectedExpression: (found: string): Message => ({
    code: 'expected-expression',
    message: `Expected a value, found ${found}.`,
  }),
  wrongOperator: (operator: string): Message =>
    withHint('wrong-operator', `\`${operator}\` is no operator of Pine.`, OPERATOR_HINTS.get(operator)),
  unclosedBracket: (bracket: string, closing: string): Message => ({
    code: 'unclosed-bracket',
    message: `\`${bracket}\` is never closed: \`${closing}\` is missing.`,
  }),
  missingComma: (closing: string, found: string): Message => ({
    code: 'missing-comma',
    message: `Expected a comma or \`${closing}\`, found ${found}.`,
  }),
  unopenedBracket: (bracket: string): Message => ({
    code: 'unopened-bracket',
    message: `\`${bracket}\` closes nothing.`,
  }),
  missingColon: (found: string): Message => ({
    code: 'missing-colon',
    message: `Expected \`:\` and the other value after \`?\`, found ${found}.`,
    hint: 'Write `condition ? a : b`.',
  }),
  blockInExpression: (keyword: string): Message => ({
    code: 'block-in-expression',
    message: `\`${keyword}\` cannot stand within an expression.`,
    hint: `Give its value to a variable first: \`x = ${keyword} …\`. For a condition use \`a ? b : c\`.`,
  }),
  tooDeep: (): Message => ({
    code: 'too-deep',
    message: 'The expression or the blocks are nested too deep.',
    hint: 'Give parts of it to variables or functions.',
  }),

  // Statements

  expectedLineEnd: (found: string, text: string, firstWord: string): Message =>
    withHint(
      'expected-line-end',
      `Expected the end of the line, found ${found}.`,
      WORD_HINTS.get(firstWord) ??
        OPERATOR_HINTS.get(text) ??
        'An operator, a comma or a bracket may be missing before it.',
    ),
  expectedName: (what: string, found: string): Message => ({
    code: 'expected-name',
    message: `Expected the name of ${what}, found ${found}.`,
  }),
  expectedType: (found: string): Message => ({
    code: 'expected-type',
    message: `Expected a type, found ${found}.`,
    hint: 'Types look like float, simple int, array<float> or library.Trade.',
  }),
  expectedToken: (expected: string, after: string, found: string): Message =>
    withHint(
      'expected-token',
      `Expected \`${expected}\` after ${after}, found ${found}.`,
      TOKEN_HINTS.get(expected),
    ),
  missingArrow: (name: string, found: string): Message => ({
    code: 'missing-arrow',
    message: `Expected \`=>\` after the parameters of \`${name}\`, found ${found}.`,
    hint: 'A function is declared as `f(x) => x * 2`.',
  }),
  noReturn: (): Message => ({
    code: 'no-return',
    message: 'There is no `return`: a function gives back its last value.',
    hint: 'Write the value alone on the last line.',
  }),
  notADeclaration: (): Message => ({
    code: 'not-a-declaration',
    message: '`=` declares a variable, and this is not the name of one.',
    hint: 'Use `:=` to give it a new value.',
  }),
  malformedImport: (): Message => ({
    code: 'malformed-import',
    message: 'The library to import is not named as user/library/version.',
    hint: 'Write `import TradingView/ta/7 as tv`.',
  }),
  notExportable: (): Message => ({
    code: 'not-exportable',
    message: 'Only functions, methods, types, enums and constants can be exported.',
  }),
} as const
