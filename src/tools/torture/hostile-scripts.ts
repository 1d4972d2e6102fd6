// Hostile scripts: each asks for more time, memory or patience than a server has.

export interface Hostile {
  readonly name: string
  readonly source: string
}

const HEAD = '//@version=6\nindicator("hostile")\n'
const times = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n')
const script = (name: string, body: string): Hostile => ({ name, source: `${HEAD}${body}\nplot(close)\n` })
const bar = (name: string, lines: string): Hostile => script(name, lines)

/** Functions that call each other with every mixture of qualifiers, so that their instances double with each level. */
function qualifierBomb(levels: number, parameters: number): string {
  const names = Array.from({ length: parameters }, (_, i) => `p${i}`)
  const list = names.join(', ')
  const lines = [`f0(${list}) => ${names.join(' + ')}`]
  for (let level = 1; level < levels; level++) {
    const calls = names.map((_, i) => {
      const given = names.map((name, j) => (i === j ? 'close' : name))
      return `f${level - 1}(${given.join(', ')})`
    })
    lines.push(`f${level}(${list}) => ${calls.join(' + ')} + f${level - 1}(${list})`)
  }
  lines.push(`x = f${levels - 1}(${names.map((_, i) => String(i)).join(', ')})`)
  return lines.join('\n')
}

/** Functions that each call the previous one twice. */
function doublingBomb(levels: number): string {
  const lines = ['f0(x) => x + ta.sma(close, 2)']
  for (let i = 1; i < levels; i++) lines.push(`f${i}(x) => f${i - 1}(x) + f${i - 1}(x + 1)`)
  return `${lines.join('\n')}\ny = f${levels - 1}(1)`
}

function typeBomb(levels: number): string {
  const lines = ['f0(x, y) => x == y ? 1 : 2']
  for (let i = 1; i < levels; i++)
    lines.push(`f${i}(x, y) => f${i - 1}(x, 1) + f${i - 1}(1.5, y) + f${i - 1}(close, x)`)
  return `${lines.join('\n')}\nz = f${levels - 1}(1, 2.5)`
}

/** A table: scripts on which the compiler would spend for ever, or too much memory. */
const compileBombs = (): Hostile[] => [
  ...[10, 14, 18, 40].map((n) => script(`qualifiers ${n}x3`, qualifierBomb(n, 3))),
  ...[8, 12].map((n) => script(`qualifiers ${n}x6`, qualifierBomb(n, 6))),
  ...[12, 16, 20, 24, 64].map((n) => script(`doubling ${n}`, doublingBomb(n))),
  ...[6, 10, 16].map((n) => script(`types ${n}`, typeBomb(n))),
  ...[10_000, 300_000, 1_000_000].map((n) => ({ name: `empty lines ${n}`, source: HEAD + '\n'.repeat(n) })),
  ...[1000, 100_000, 900_000].map((n) => ({ name: `blank lines ${n}`, source: HEAD + ' \n'.repeat(n / 2) })),
  { name: 'tabs', source: HEAD + '\t'.repeat(900_000) },
  { name: 'one endless word', source: `${HEAD}${'a'.repeat(900_000)}` },
  { name: 'one endless number', source: `${HEAD}x = ${'9'.repeat(900_000)}` },
  { name: 'carriage returns', source: HEAD + '\r'.repeat(900_000) },
  ...['"', "'"].map((quote) => ({
    name: `unclosed strings ${quote}`,
    source: HEAD + `x = ${quote}abc\n`.repeat(40_000),
  })),
  { name: 'unclosed brackets', source: `${HEAD}x = ${'('.repeat(200_000)}` },
  { name: 'closing brackets', source: `${HEAD}x = ${')'.repeat(200_000)}` },
  { name: 'unknown names', source: HEAD + times(42_000, (i) => `x${i} = nothing${i}`) },
  { name: 'near misses', source: HEAD + times(10_000, (i) => `y${i} = ta.smaa(close, ${i})`) },
  { name: 'one name a hundred thousand times', source: HEAD + 'x = x\n'.repeat(100_000) },
  ...[1000, 20_000].map((n) => script(`nested parentheses ${n}`, `x = ${'('.repeat(n)}1${')'.repeat(n)}`)),
  ...[1000, 20_000].map((n) =>
    script(`nested ternaries ${n}`, `x = ${'true ? '.repeat(n)}1${' : 2'.repeat(n)}`),
  ),
  ...[1000, 50_000].map((n) =>
    script(`a sum of ${n}`, `x = ${Array.from({ length: n }, () => 'close').join(' + ')}`),
  ),
  script('unary minus', `x = ${'-'.repeat(100_000)}1`),
  script('not not not', `x = ${'not '.repeat(50_000)}true`),
  script('indexing', `x = close${'[1]'.repeat(20_000)}`),
  script('member chain', `x = a${'.b'.repeat(100_000)}`),
  script('nested calls', `x = ${'math.abs('.repeat(5000)}1${')'.repeat(5000)}`),
  script(
    'nested ifs',
    times(2000, (i) => `${'    '.repeat(Math.min(i, 200))}if true`),
  ),
  script('nested arrays', `x = ${'array.from('.repeat(2000)}1${')'.repeat(2000)}`),
  script(
    'a function of 5000 parameters',
    `f(${Array.from({ length: 5000 }, (_, i) => `p${i}`).join(', ')}) => 1`,
  ),
  script(
    'a call of 50,000 arguments',
    `x = math.max(${Array.from({ length: 50_000 }, () => '1').join(', ')})`,
  ),
  script(
    'a hundred thousand variables',
    times(60_000, (i) => `v${i} = ${i}`),
  ),
  script('a switch of 20,000', `x = switch close\n${times(20_000, (i) => `    ${i} => ${i}`)}`),
  script(
    'tuples',
    times(3000, (i) => `[a${i}, b${i}] = [1, 2]`),
  ),
  script(
    'types of types',
    times(3000, (i) => `type T${i}\n    ${i === 0 ? 'float' : `T${i - 1}`} x`),
  ),
  script('an enum of 30,000', `enum E\n${times(30_000, (i) => `    e${i}`)}`),
  script('a type that holds itself', 'type T\n    T x\nvar t = T.new()'),
  script('mutual recursion', 'f(x) => g(x)\ng(x) => f(x)\ny = f(1)'),
  script('self recursion', 'f(x) => f(x - 1)\ny = f(1)'),
  script(
    'methods',
    times(5000, (i) => `method m${i}(float x) => ${i === 0 ? 'x' : `x.m${i - 1}()`}`),
  ),
  script(
    'imports',
    times(2000, (i) => `import user/Library${i}/1 as L${i}`),
  ),
  script('imports of itself', 'import owner/hostile/1 as me'),
  { name: 'versions', source: '//@version=6\n'.repeat(70_000) },
  { name: 'compiler annotations', source: HEAD + '//@variable x '.repeat(60_000) },
  { name: 'comments', source: HEAD + times(90_000, () => '// comment') },
  { name: 'continuations', source: `${HEAD}x = 1 +\n${' 1 +\n'.repeat(100_000)} 1` },
  { name: 'only operators', source: HEAD + '+-*/%?:<>=!'.repeat(50_000) },
  { name: 'emoji', source: HEAD + '🦀'.repeat(200_000) },
  { name: 'combining letters', source: `${HEAD}e${'\u0301'.repeat(300_000)}` },
  { name: 'lone surrogates', source: HEAD + '\ud800\n'.repeat(100_000) },
  { name: 'nul', source: HEAD + '\0'.repeat(300_000) },
  { name: 'backslashes', source: `${HEAD}x = "${'\\'.repeat(300_000)}"` },
  {
    name: 'colours',
    source: HEAD + times(40_000, (i) => `c${i} = #${(i % 4096).toString(16).padStart(6, '0')}`),
  },
  { name: 'titles', source: `//@version=6\nindicator("${'t'.repeat(500_000)}")` },
  { name: 'nothing', source: '' },
]

const loops = (): Hostile[] => [
  bar('while true', 'while true\n    x = 1'),
  bar('while with a counter', 'n = 0\nwhile n >= 0\n    n += 1'),
  bar('for without end', 'for i = 0 to 1e15\n    x = i'),
  bar('for by nothing', 'for i = 0 to 10 by 0\n    x = i'),
  bar('nested loops', 'n = 0\nfor i = 0 to 1e6\n    for j = 0 to 1e6\n        n += 1'),
  bar('a slow bar', 'n = 0.0\nfor i = 0 to 3000000\n    n += math.sin(i)'),
  bar('a loop in a function', 'f() =>\n    n = 0\n    while true\n        n += 1\n    n\nx = f()'),
  bar('loop over a growing array', 'a = array.from(1)\nfor x in a\n    array.push(a, x)'),
  bar(
    'loop that moves its end',
    'a = array.new<int>(1)\ni = 0\nwhile i < array.size(a)\n    array.push(a, i)\n    i += 1',
  ),
  bar('a map without end', 'm = map.new<int, int>()\ni = 0\nwhile true\n    map.put(m, i, i)\n    i += 1'),
  bar('sorting', 'a = array.new<float>(100000, close)\nfor i = 0 to 1000\n    array.sort(a)'),
  bar(
    'percentiles',
    'a = array.new<float>(100000, close)\nfor i = 0 to 1000\n    x = array.percentile_rank(a, i % 100)',
  ),
  bar('lengths', 'x = ta.sma(close, 4999)\ny = ta.percentrank(close, 4999)\nz = ta.median(close, 4999)'),
  bar(
    'linear regressions',
    times(300, (i) => `l${i} = ta.linreg(close, ${4000 + i}, 0)`),
  ),
  bar(
    'correlations',
    times(200, (i) => `c${i} = ta.correlation(close, open, ${4000 + i})`),
  ),
  bar('matrix inverse', 'm = matrix.new<float>(300, 300, close)\nfor i = 0 to 100\n    x = matrix.det(m)'),
  bar('matrix power', 'm = matrix.new<float>(200, 200, close)\nx = matrix.pow(m, 100000)'),
  bar('eigenvalues', 'm = matrix.new<float>(200, 200, close)\nx = matrix.eigenvalues(m)'),
]

const memory = (): Hostile[] => [
  bar('array.new(1e9)', 'a = array.new<float>(1000000000, close)'),
  bar(
    'array.new(100000) a bar',
    'var k = array.new<float>()\na = array.new<float>(100000, close)\narray.concat(k, a)',
  ),
  bar(
    'arrays kept',
    'type H\n    array<float> a\nvar hs = array.new<H>()\nfor i = 0 to 100\n    array.push(hs, H.new(array.new<float>(100000, close)))',
  ),
  bar('s += s', 's = "abcdefgh"\nfor i = 0 to 60\n    s += s'),
  bar(
    'strings kept',
    'var a = array.new<string>()\nfor i = 0 to 10000\n    array.push(a, str.repeat("x", 4000) + str.tostring(i))',
  ),
  bar('str.repeat', 's = str.repeat("abcdefgh", 1000000000)'),
  bar('str.replace_all', 's = str.repeat("a", 4000)\nfor i = 0 to 10\n    s := str.replace_all(s, "a", s)'),
  bar(
    'str.format',
    's = str.format("{0}", str.repeat("x", 4000))\nfor i = 0 to 1000\n    s := str.format("{0}{0}", s)',
  ),
  bar(
    'str.split',
    'a = str.split(str.repeat("a,", 2000), ",")\nfor i = 0 to 1000\n    a := array.concat(a, array.copy(a))',
  ),
  bar('join', 'a = array.new<string>(100000, str.repeat("x", 4000))\ns = array.join(a, ",")'),
  bar('matrix.new(1e5, 1e5)', 'm = matrix.new<float>(100000, 100000, 1)'),
  bar('matrix.kron', 'm = matrix.new<float>(300, 300, 1)\nx = matrix.kron(m, m)'),
  bar(
    'matrix.concat',
    'm = matrix.new<float>(1000, 100, 1)\nfor i = 0 to 1000\n    matrix.concat(m, matrix.copy(m))',
  ),
  bar(
    'map flood',
    'var m = map.new<string, string>()\nfor i = 0 to 100000\n    map.put(m, str.tostring(i) + str.tostring(bar_index), str.repeat("v", 100))',
  ),
  bar('labels', 'for i = 0 to 10000\n    label.new(bar_index, close, str.repeat("label", 100))'),
  bar(
    'lines and boxes',
    'for i = 0 to 10000\n    line.new(bar_index, close, bar_index + 1, open)\n    box.new(bar_index, close, bar_index + 1, open)',
  ),
  bar(
    'tables',
    'for i = 0 to 1000\n    t = table.new(position.top_left, 100, 100)\n    for j = 0 to 99\n        table.cell(t, j, j, str.repeat("cell", 500))',
  ),
  bar(
    'polylines',
    'for i = 0 to 500\n    p = array.new<chart.point>(10000, chart.point.now(close))\n    polyline.new(p)',
  ),
  bar('logs', 'for i = 0 to 100000\n    log.info(str.repeat("log", 1000))'),
  bar('alerts', 'for i = 0 to 100000\n    alert(str.repeat("alert", 500) + str.tostring(i), alert.freq_all)'),
  bar(
    'objects',
    'type T\n    float a\n    float b\nvar all = array.new<T>()\nfor i = 0 to 100000\n    array.push(all, T.new(i, i))',
  ),
  bar(
    'history',
    times(500, (i) => `h${i} = close[${4000 + (i % 900)}]`),
  ),
  bar(
    'plots',
    times(64, (i) => `plot(close + ${i}, "${'p'.repeat(1000)}${i}")`),
  ),
  bar('max_bars_back', 'x = close[5000]\ny = close[bar_index]'),
]

const patterns = (): Hostile[] => [
  bar('regex (a+)+$', 's = str.repeat("a", 4000) + "!"\nx = str.match(s, "(a+)+$")'),
  bar('regex (a|aa)+$', 's = str.repeat("a", 4000) + "!"\nx = str.match(s, "^(a|aa)+$")'),
  bar('regex (.*a){20}', 's = str.repeat("a", 4000)\nx = str.match(s, "(.*a){20}b")'),
  bar('regex counted', 'x = str.match("a", "((a{1000}){1000}){1000}")'),
  bar('regex nested', `x = str.match("a", "${'('.repeat(2000)}a${')'.repeat(2000)}")`),
  bar('regex back references', 's = str.repeat("ab", 2000)\nx = str.match(s, "(a*)*(b*)*\\\\1\\\\2c")'),
  bar('regex look-around', 's = str.repeat("a", 4000)\nx = str.match(s, "(?=(a+))(?=(a+))(?=(a+))b")'),
  bar('regex a bar', 's = str.repeat("a", 400)\nfor i = 0 to 500\n    x = str.match(s, "(a*)*b")'),
]

const requests = (): Hostile[] => [
  bar(
    'request.security flood',
    times(200, (i) => `r${i} = request.security("S${i}", "1D", close)`),
  ),
  bar(
    'request.security in a loop',
    'for i = 0 to 1000\n    r = request.security("SP:SPX", str.tostring(i % 60 + 1), close)',
  ),
  bar(
    'request.security nested',
    'x = request.security(syminfo.tickerid, "W", request.security(syminfo.tickerid, "M", ta.sma(close, 100)))',
  ),
  bar(
    'request.security of everything',
    'x = request.security("SP:SPX", "1", ta.sma(close, 4000))\ny = request.security("NASDAQ:AAPL", "D", ta.median(close, 4000))',
  ),
  bar('request.security_lower_tf', 'x = request.security_lower_tf(syminfo.tickerid, "1S", close)'),
  bar(
    'request.security with a bomb',
    `${doublingBomb(16)}\nx = request.security(syminfo.tickerid, "W", f15(1))`,
  ),
  bar(
    'request.seed',
    times(100, (i) => `s${i} = request.seed("x", "y${i}", close)`),
  ),
]

const strategies = (): Hostile[] =>
  [
    [
      'orders',
      'for i = 0 to 5000\n    strategy.entry(str.tostring(i), strategy.long, comment = str.repeat("c", 1000))',
    ],
    [
      'exits',
      'strategy.entry("L", strategy.long)\nfor i = 0 to 5000\n    strategy.exit(str.tostring(i), "L", limit = close + i, stop = close - i)',
    ],
    [
      'cancels',
      'for i = 0 to 20000\n    strategy.order("x" + str.tostring(i), strategy.long, limit = 1)\n    strategy.cancel_all()',
    ],
    [
      'trades read in a loop',
      'strategy.entry("L", bar_index % 2 == 0 ? strategy.long : strategy.short)\nx = 0.0\nfor i = 0 to strategy.closedtrades\n    for j = 0 to 1000\n        x += strategy.closedtrades.profit(i)',
    ],
    [
      'sizes',
      'strategy.entry("L", strategy.long, qty = 1e308)\nstrategy.entry("S", strategy.short, qty = 1e-308)',
    ],
  ].map(([name = '', body = '']) => ({
    name: `strategy ${name}`,
    source: `//@version=6\nstrategy("hostile", pyramiding = 10000, calc_on_order_fills = true)\n${body}\n`,
  }))

/** `text` has the scripts that only a compiler has to fear, `run` those that have to be run. */
export function hostileScripts(): { readonly text: Hostile[]; readonly run: Hostile[] } {
  return {
    text: compileBombs(),
    run: [...loops(), ...memory(), ...patterns(), ...requests(), ...strategies()],
  }
}
