// Texts made to hurt: each family grows to any size, and each repeats what some step of a compiler may be slow at.

const HEAD = '//@version=6\nindicator("x")\n'

/** A family's text of about so many characters. */
export type Family = (size: number) => string

/** `part(0) + part(1) + …` until it is long enough. */
function grown(size: number, part: (i: number) => string, head = HEAD, tail = ''): string {
  const parts = [head]
  let length = head.length + tail.length
  for (let i = 0; length < size; i++) {
    const text = part(i)
    parts.push(text)
    length += text.length
  }
  return parts.join('') + tail
}

const lines =
  (line: (i: number) => string, head = HEAD): Family =>
  (size) =>
    grown(size, (i) => `${line(i)}\n`, head)

/** `opening` and `closing` as often as they fit, one inside the other. */
const nested =
  (opening: string, closing: string, core = '1', before = 'x = '): Family =>
  (size) => {
    const depth = Math.floor(size / (opening.length + closing.length))
    return `${HEAD}${before}${opening.repeat(depth)}${core}${closing.repeat(depth)}\n`
  }

const oneLine =
  (part: (i: number) => string, head = 'x = ', tail = ''): Family =>
  (size) =>
    grown(size, part, HEAD + head, `${tail}\n`)

/** Blocks that get deeper line by line; the indentation itself makes this quadratic in lines, so it is cut off. */
const staircase =
  (line: (i: number) => string): Family =>
  (size) =>
    grown(size, (i) => `${' '.repeat(4 * (i % 400))}${line(i)}\n`)

const functionsOf =
  (calls: (i: number) => string, head: string): Family =>
  (size) =>
    grown(size, (i) => `f${i + 1}(x) => ${calls(i)}\n`, `${HEAD}${head}\n`)

export const FAMILIES: Readonly<Record<string, Family>> = {
  'empty lines': (size) => '\n'.repeat(size),
  'empty lines with spaces': lines(() => '    '),
  'carriage returns': (size) => HEAD + '\r'.repeat(size),
  'windows lines': (size) => grown(size, (i) => `a${i} = ${i}\r\n`),
  spaces: (size) => HEAD + ' '.repeat(size),
  tabs: (size) => HEAD + '\t'.repeat(size) + 'x = 1',
  'tabs and spaces in turn': (size) => HEAD + ' \t'.repeat(size / 2) + 'x = 1',
  comments: lines((i) => `// comment ${i}`),
  'one long comment': (size) => `${HEAD}//${'x'.repeat(size)}`,
  slashes: (size) => HEAD + '/'.repeat(size),
  'single slashes': (size) => HEAD + '/ '.repeat(size / 2),
  'block comments': lines(() => 'a = 1 /* b */ + 2'),
  'unclosed block comments': lines(() => '/* b'),
  annotations: lines((i) => `//@function f${i}\n//@param x y`),
  'version lines': lines((i) => `//@version=${i % 7}`),
  'version line with spaces': (size) => `//@version${' '.repeat(size)}= 6\nindicator("x")\n`,
  'unclosed strings': lines(() => 'x = "abc'),
  'unclosed strings on one line': (size) => HEAD + `x = "a ' b`.repeat(size / 11),
  'unclosed strings in wrapped lines': lines((i) => `  "abc${i}`),
  'wrapped string': (size) => grown(size, () => 'abc\n     ', `${HEAD}x = "`),
  'unclosed triple quotes': lines(() => 'x = """abc'),
  quotes: (size) => HEAD + '"'.repeat(size),
  'single quotes': (size) => HEAD + "'".repeat(size),
  backslashes: (size) => `${HEAD}x = "${'\\'.repeat(size)}`,
  'long string': (size) => `${HEAD}x = "${'a'.repeat(size)}"\n`,
  'string of spaces over lines': (size) => `${HEAD}x = "${' '.repeat(size)}\n b"\n`,
  'curly quotes': lines(() => 'x = \u201cabc\u201d'),
  'unknown names': lines((i) => `x${i} = unknown${i}`),
  'unknown long names': lines((i) => `x${i} = ${'unknown'.repeat(30)}${i}`),
  'one unknown name of a megabyte': (size) => `${HEAD}x = ${'a'.repeat(size)}\n`,
  'unknown functions': lines((i) => `unknown${i}(1)`),
  'unknown functions beside known ones': lines((i) => `g${i}(x) => x\nh${i}x(1)`),
  'unknown members': lines((i) => `x${i} = ta.unknown${i}(1)`),
  'unknown methods': lines((i) => `x${i} = "a".unknown${i}()`),
  'unknown types': lines((i) => `Unknown${i} x${i} = na`),
  'unknown arguments': oneLine((i) => `name${i}=1,`, 'plot(close, ', 'z=1)'),
  'assigned unknowns': lines((i) => `unknown${i} := 1`),
  'names used early': (size) => grown(size, (i) => `x${i} = x${i + 1}\n`),
  'declared twice': lines(() => 'x = 1'),
  'many variables': lines((i) => `v${i} = close`),
  'many var variables': lines((i) => `var v${i} = 0.0\nv${i} := close`),
  'variables in a chain': lines((i) => (i === 0 ? 'v0 = close' : `v${i} = v${i - 1} + 1`)),
  'constants in a chain': lines((i) => (i === 0 ? 'v0 = 1' : `v${i} = v${i - 1} + v${i - 1}`)),
  'doubling strings': lines((i) => (i === 0 ? 's0 = "aaaaaaaa"' : `s${i} = s${i - 1} + s${i - 1}`)),
  'doubling strings in calls': lines((i) =>
    i === 0 ? 's0 = "a"' : `s${i} = str.replace_all(s${i - 1}, "a", "aa")`,
  ),
  'repeated constant strings': lines((i) => `s${i} = str.repeat("abcdefgh", 4000)`),
  parentheses: nested('(', ')'),
  'unclosed parentheses': nested('(', ''),
  'unopened parentheses': nested('', ')'),
  brackets: nested('[', ']'),
  'unclosed brackets': nested('[', '', '1', ''),
  'index brackets': oneLine(() => '[1]', 'x = close'),
  'nested index brackets': nested('close[', ']'),
  braces: nested('{', '}'),
  'nested calls': nested('math.abs(', ')'),
  'nested calls of nothing': nested('f(', ')'),
  'calls of calls': oneLine(() => '(1)', 'x = f'),
  'nested unary': nested('-', ''),
  'nested not': nested('not ', '', 'true'),
  'nested ternaries': nested('true ? 1 : (', ')'),
  'ternary chain': oneLine((i) => `close > ${i} ? ${i} : `, 'x = ', '0'),
  'ternary tests': oneLine(() => 'true ? ', 'x = ', '0'),
  'long sum': oneLine((i) => `${i} + `, 'x = ', '1'),
  'long sum of series': oneLine(() => 'close + ', 'x = ', '1'),
  'sum over lines': (size) => grown(size, () => '\n     + close', `${HEAD}x = close`),
  'long conjunction': oneLine(() => 'close > open and ', 'x = ', 'true'),
  'less than chain': oneLine(() => 'a < ', 'x = ', 'b'),
  'member chain': oneLine(() => '.a', 'x = a'),
  'method chain': oneLine(() => '.abs()', 'x = close'),
  'generic types': nested('array<', '>', 'int', ''),
  'unclosed generic types': nested('array<', '', 'int', ''),
  commas: (size) => HEAD + ','.repeat(size),
  'statements with commas': oneLine((i) => `a${i} = 1, `, '', 'z = 1'),
  'giant tuple': oneLine((i) => `${i}, `, '[a, b] = [', '1]'),
  'giant tuple of names': oneLine((i) => `a${i}, `, '[', 'b] = f()'),
  'array of many': oneLine((i) => `${i}, `, 'x = array.from(', '1)'),
  'call of many': oneLine((i) => `${i}, `, 'x = math.max(', '1)'),
  'call of many named': oneLine(() => 'title="a", ', 'plot(close, ', 'color=color.red)'),
  'format of many': oneLine(() => 'close, ', 'x = str.format("a", ', '1)'),
  'nested ifs': staircase(() => 'if close > open'),
  'nested loops': staircase((i) => `for i${i} = 0 to 1`),
  'else if chain': (size) =>
    grown(
      size,
      (i) => `else if close > ${i}\n    x := ${i}\n`,
      `${HEAD}x = 0\nif close > open\n    x := 1\n`,
    ),
  'valued else if chain': (size) =>
    grown(size, (i) => `else if close > ${i}\n    ${i}\n`, `${HEAD}x = if close > open\n    1\n`),
  'giant switch': (size) => grown(size, (i) => `    ${i} => ${i}\n`, `${HEAD}x = switch bar_index\n`),
  'giant switch of tests': (size) => grown(size, (i) => `    close > ${i} => ${i}\n`, `${HEAD}x = switch\n`),
  'switch of assignments': (size) =>
    grown(size, (i) => `    ${i} => x := ${i}\n`, `${HEAD}x = 0\nswitch bar_index\n`),
  'many ifs': lines((i) => `if close > ${i}\n    alert("a")`),
  'many loops': lines((i) => `for i = 0 to ${i}\n    alert("a")`),
  'many assignments': (size) => grown(size, (i) => `x := x + ${i}\n`, `${HEAD}var x = 0\n`),
  'assignments in loops': (size) =>
    grown(size, (i) => `for i${i} = 0 to 1\n    x := x + i${i}\n`, `${HEAD}var x = 0\n`),
  'body of many lines': (size) => grown(size, (i) => `    x := x + ${i}\n`, `${HEAD}f(y) =>\n    x = y\n`),
  'loop of many variables': (size) => grown(size, (i) => `    v${i} = i + ${i}\n`, `${HEAD}for i = 0 to 1\n`),
  'many functions': lines((i) => `f${i}(x) => x + ${i}`),
  'many called functions': lines((i) => `f${i}(x) => x + ${i}\nv${i} = f${i}(close)`),
  overloads: lines((i) => `f(${'int x, '.repeat(i % 50)}float y${i}) => y${i}`),
  'overloads called': (size) =>
    grown(size, (i) => `f(T${i} x) => 1\ntype T${i}\n    int a\n`, HEAD, 'f(T0.new(1))\n'),
  'methods called': (size) => grown(size, (i) => `method m${i}(float x) => x\nv${i} = close.m${i}()\n`, HEAD),
  'methods of one name': (size) =>
    grown(size, (i) => `type T${i}\n    int a\nmethod m(T${i} x) => 1\nT${i}.new().m()\n`, HEAD),
  'many parameters': oneLine((i) => `p${i}, `, 'f(', 'q) => 1'),
  'functions that call each other': functionsOf((i) => `f${i}(x) + f${i}(x + 1)`, 'f0(x) => x'),
  'functions of many qualifiers': functionsOf(
    (i) => `f${i}(1) + f${i}(x) + f${i}(bar_index) + f${i}(close) + f${i}(1.5) + f${i}(syminfo.mintick)`,
    'f0(x) => x',
  ),
  'functions of growing tuples': (size) =>
    grown(
      size,
      (i) => `f${i + 1}(x) =>\n    [${'a, '.repeat(i)}z] = f${i}(x)\n    [${'a, '.repeat(i + 1)}z]\n`,
    ),
  'functions of growing arrays': functionsOf((i) => `f${i}(array.from(x)) + 1`, 'f0(x) => 1'),
  'functions that multiply frames': functionsOf(
    (i) => `f${i}(x) + f${i}(x) + f${i}(x)`,
    'f0(x) => ta.sma(x, 2)',
  ),
  recursion: lines((i) => `f${i}(x) => f${i}(x)`),
  'mutual recursion': (size) => grown(size, (i) => `f${i}(x) => f${i + 1}(x)\n`, HEAD, 'v = f0(1)\n'),
  'one function with many arguments': (size) =>
    grown(size, (i) => `type T${i}\n    int a\nf(T${i}.new())\n`, `${HEAD}f(x) => 1\n`),
  'many types': lines((i) => `type T${i}\n    int a\n    float b`),
  'types of types': lines((i) =>
    i === 0 ? 'type T0\n    int a' : `type T${i}\n    T${i - 1} a\n    T${i - 1} b`,
  ),
  'type of many fields': (size) => grown(size, (i) => `    int f${i}\n`, `${HEAD}type T\n`),
  'new objects of many fields': (size) => {
    const count = Math.floor(Math.sqrt(size) / 2)
    return grown(
      size,
      (i) => `v${i} = T.new()\n`,
      `${HEAD}type T\n${Array.from({ length: count }, (_, i) => `    int f${i}\n`).join('')}`,
    )
  },
  'many enums': lines((i) => `enum E${i}\n    a\n    b`),
  'enum of many members': (size) => grown(size, (i) => `    m${i}\n`, `${HEAD}enum E\n`),
  'enum members used': (size) => {
    const half = grown(size / 2, (i) => `    m${i}\n`, `${HEAD}enum E\n`)
    return half + grown(size / 2, (i) => `v${i} = E.m${i}\n`, '')
  },
  imports: lines((i) => `import a/b${i}/1`),
  'imports of one': lines(() => 'import a/b/1'),
  'broken imports': lines(() => 'import a b c'),
  'import of spaces': (size) => `${HEAD}import ${' '.repeat(size)}a/b/1\n`,
  inputs: lines((i) => `i${i} = input.int(${i}, "Input ${i}")`),
  'inputs of one title': lines((i) => `i${i} = input.int(${i}, "Input")`),
  plots: lines((i) => `plot(close + ${i}, "p${i}")`),
  requests: lines((i) => `r${i} = request.security("A:B${i}", "D", close)`),
  'requests of a chain': (size) =>
    grown(size, (i) => `v${i + 1} = request.security("A:B", "D", v${i})\n`, `${HEAD}v0 = close\n`),
  'request of many lines': (size) =>
    grown(
      size,
      (i) => `v${i + 1} = v${i} + 1\n`,
      `${HEAD}v0 = close\n`,
      'r = request.security("A:B", "D", v9)\n',
    ),
  'requests in loops': lines((i) => `for i = 0 to 1\n    r${i} = request.security("A:B", "D", close + i)`),
  'indicators that differ': lines((i) => `v${i} = ta.sma(close, ${i + 1})`),
  'indicators of indicators': lines((i) =>
    i === 0 ? 'v0 = ta.ema(close, 2)' : `v${i} = ta.ema(v${i - 1}, 2)`,
  ),
  'nested indicators': nested('ta.ema(', ', 2)', 'close'),
  'history in a chain': lines((i) => (i === 0 ? 'v0 = close' : `v${i} = v${i - 1}[1]`)),
  'misindented lines': lines((i) => `${' '.repeat(i % 11)}x${i} = ${i}`),
  'two spaces a level': staircase((i) => (i % 2 === 0 ? 'if true' : '  x = 1')),
  'else without if': lines(() => 'else'),
  'missing bodies': lines(() => 'if true'),
  'unclosed calls': lines((i) => `plot(close${i}`),
  'words of other languages': lines(() => 'def f(x): return x;'),
  'wrong operators': oneLine(() => 'a && b || !c ', 'x = '),
  increments: lines(() => 'x++'),
  'characters of no meaning': (size) => HEAD + '@$`~'.repeat(size / 4),
  'unicode names': lines((i) => `имя${i} = 1`),
  'astral characters': (size) => HEAD + '😀'.repeat(size / 2),
  'lone surrogates': (size) => HEAD + '\ud800'.repeat(size),
  'zero width characters': (size) => HEAD + '\u200b'.repeat(size),
  'null characters': (size) => HEAD + '\0'.repeat(size),
  'numbers of many digits': (size) => `${HEAD}x = ${'9'.repeat(size)}\n`,
  'numbers with letters': (size) => HEAD + '1a '.repeat(size / 3),
  points: (size) => HEAD + '.'.repeat(size),
  exponents: oneLine(() => '1e', 'x = '),
  colours: oneLine(() => '#ff0000 ', 'x = '),
  'broken colours': oneLine(() => '#', 'x = '),
  'na chain': oneLine(() => 'na == ', 'x = ', 'na'),
  'na variables': lines((i) => `x${i} = na`),
  arrows: oneLine(() => 'f() => ', ''),
  'declarations in a row': oneLine((i) => `a${i} = `, '', '1'),
  'assignments in a row': oneLine(() => 'a := ', '', '1'),
  'tuple declarations': lines((i) => `[a${i}, b${i}] = [1, 2]`),
  'blocks in expressions': oneLine(() => 'if ', 'x = '),
  'when arguments': (size) =>
    grown(
      size,
      (i) => `strategy.entry("a${i}", true, when = ta.sma(close, 2) > ${i})\n`,
      '//@version=4\nstrategy("x")\n',
    ),
  exports: (size) => grown(size, (i) => `export f${i}(int x) => x\n`, '//@version=6\nlibrary("x")\n'),
  'names like built-ins': lines((i) => `closf${i} = clos + opn + vlume`),
  'shadowed names': lines((i) => `if true\n    x = ${i}\n    y = x`),
  'once blocks': lines((i) => `once\n    x${i} = 1`),
  'broken line before names': (size) => grown(size, (i) => `a${i} = b${i} + c${i}\n`, `${HEAD}x = (\n`),
  'broken line each': lines((i) => `a${i} = (b + ]`),
}
