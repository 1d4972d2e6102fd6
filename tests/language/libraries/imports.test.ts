// Which versions of TradingView's libraries there are and what they export; imports that are not linked; bad imports.

import { describe, expect, test } from 'bun:test'
import { type CompileOptions, compile } from '../../../src/language/compile.ts'
import { barsOf, environment, plotted } from '../run-script.ts'
import { bundledLibrary, bundledVersions } from '../../../src/language/libraries/bundled.ts'

const V3 =
  'aroon cagr coppock dema dema2 dm donchian ema2 eom frama ft ht ichimoku ift kvo pzo rms rwi stc stochFull stochRsi supertrend szo t3 t3Alt tema tema2 trima uo vhf vi vzo williamsFractal wpo trix'
const V7 = `${V3} ao atr2 changePercent highestSince lowestSince relativeVolume rma2 supertrend2 vStop vStop2`
const V8 = `${V7} requestUpAndDownVolume requestVolumeDelta`
const V11 = `${V8} chandelier chandelier2 er kama macd2 pmo ppo ppo2 specialK ulcerIndex`
const OLD = 'allTimeHigh allTimeLow trima2'
const COT =
  'rootToCFTCCode currencyToCFTCCode optionsToTicker metricNameAndDirectionToTicker typeToTicker convertRootToCOTCode COTTickerid'

/** What each version exports, by the pages on the libraries; a version that is not listed exports what the one before does. */
const EXPORTS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  ta: {
    1: 'cagr',
    2: 'cagr allTimeHigh allTimeLow',
    3: `${V3} ${OLD}`,
    5: `${V3} ${OLD} ao changePercent highestSince lowestSince`,
    6: `${V3} ${OLD} ao changePercent highestSince lowestSince relativeVolume`,
    7: V7,
    8: V8,
    11: V11,
    14: V11,
  },
  ZigZag: {
    6: 'Settings Point Pivot ZigZag lastPivot update newInstance',
    7: 'Settings Pivot ZigZag lastPivot update newInstance',
    9: 'Settings Pivot ZigZag lastPivot update newInstance',
  },
  Strategy: {
    1: 'percentToTicks percentToPrice percentToCurrency percentProfit priceToTicks ticksToPrice ticksToCurrency ticksToStopLevel ticksToTpLevel calcPositionSizeByStopLossTicks calcPositionSizeByStopLossPercent exitPercent closeAllAtEndOfSession closeAtEndOfSession sharpeRatio sortinoRatio',
    5: '',
  },
  RelativeValue: { 1: 'calcCumulativeSeries averageAtTime', 3: '' },
  TechnicalRating: { 1: 'calcRatingAll countRising ratingStatus', 3: '' },
  LibraryCOT: {
    1: COT,
    3: `${COT} requestCommitmentOfTraders`,
    5: `${COT} requestCommitmentOfTraders getCFTCCode`,
    6: '',
  },
  ValueAtTime: {
    1: 'Data getArrayFromString periodToTimestamp collectData valueAtTime valueAtTimeOffset valueAtPeriodOffset getDataAtTimes getDataAtTimeOffsets getDataAtPeriodOffsets',
    2: '',
  },
  RiskMetrics: { 1: 'detectPeriod getPeriodicReturns sharpeRatio sortinoRatio', 3: '' },
  Color: {
    1: 'getRGB getHexString hexStringToRGB hexStringToColor getLRGB lrgbToRGB lrgbToColor getHSL hslToRGB hslToColor getHSV hsvToRGB hsvToColor getHWB hwbToRGB hwbToColor getXYZ xyzToRGB xyzToColor getXYY xyyToRGB xyyToColor getLAB labToRGB labToColor getLCH lchToRGB lchToColor getOKLAB oklabToRGB oklabToColor getOKLCH oklchToRGB oklchToColor contrastRatio isLightTheme grayscale negative complement analogousColors splitComplements triadicColors tetradicColors pentadicColors hexadicColors add overlay fromGradient fromMultiStepGradient gradientPalette monoPalette harmonyPalette',
    2: '',
  },
}

describe('versions', () => {
  for (const [name, listed] of Object.entries(EXPORTS))
    test(`TradingView/${name} from its first version to its last`, () => {
      const versions = Object.keys(listed).map(Number)
      expect(bundledVersions('TradingView', name)).toEqual([Math.min(...versions), Math.max(...versions)])
      let expected = ''
      for (let version = versions[0]!; version <= versions.at(-1)!; version++) {
        expected = listed[version] || expected
        const text = bundledLibrary('TradingView', name, version) ?? ''
        const found = [...text.matchAll(/^export (?:method |type )?(\w+)/gm)].map(([, one]) => one)
        const sorted = (names: Iterable<string | undefined>) =>
          [...names].toSorted((a = '', b = '') => (a < b ? -1 : 1))
        expect(sorted(new Set(found))).toEqual(sorted(expected.split(' ')))
        expect(compile(text).diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
      }
    })

  test('nobody else’s, and none beyond the last', () => {
    expect(bundledLibrary('me', 'ta', 7)).toBeNull()
    expect(bundledLibrary('TradingView', 'ta', 15)).toBeNull()
    expect(bundledLibrary('TradingView', 'ta', 0)).toBeNull()
    expect(bundledLibrary('TradingView', 'constructor', 1)).toBeNull()
  })
})

function said(body: string, options: CompileOptions = {}): string[] {
  return compile(`//@version=6\nindicator("t")\n${body}\nplot(close)`, options).diagnostics.map(
    ({ code, message, hint }) => `${code}: ${message} ${hint ?? ''}`,
  )
}

describe('an import whose alias is a built-in namespace', () => {
  for (const [name, body] of [
    ['built-in functions', 'x = ta.ema(close, 9)'],
    ['built-in variables', 'x = ta.tr'],
    ['a history', 'x = ta.tr[1]'],
    ['a built-in with named arguments', '[a, b] = ta.supertrend(factor = 3, atrPeriod = 10)'],
    ['a built-in method', 'a = array.new<int>()\na.push(1)'],
  ] as const)
    test(`L10: links nothing where only ${name} are used`, () => {
      const asked: string[] = []
      const library = (...path: [string, string, number]) => {
        asked.push(path.join('/'))
        return null
      }
      expect(said(`import TradingView/ta/7\n${body}`, { library })).toEqual([])
      expect(said(`import someone/Helpers/3 as ta\n${body}`, { library })).toEqual([])
      expect(asked).toEqual([])
    })

  test('is missed only where a name of its own is used, once', () => {
    const found = said('import someone/Helpers/3 as ta\nx = ta.help(close)\ny = ta.HELP\nta.Helped z = na')
    expect(found).toHaveLength(1)
    expect(found[0]).toContain('library-not-found: There is no library someone/Helpers/3 here.')
  })

  test('is missed where a method may be its own', () => {
    const library = () => '//@version=6\nlibrary("L")\nexport method half(float x) => x / 2'
    expect(said('import a/L/1 as ta\nx = close.half()', { library })).toEqual([])
    expect(said('import a/L/1 as ta\nx = close.half()')[0]).toContain('library-not-found')
  })

  test('gives what the built-in of that name does not take', () => {
    expect(said('import TradingView/ta/7\n[a, b] = ta.supertrend(3, 10, true)')).toEqual([])
    expect(said('[a, b] = ta.supertrend(3, 10, true)')[0]).toContain('too-many-arguments')
  })

  test('does not take `chart.point` for a type of its own', () => {
    expect(said('import a/L/1 as chart\nchart.point p = chart.point.now()\nx = chart.bg_color')).toEqual([])
  })
})

describe('a library runs by the rules of its own version', () => {
  const library = (_user: string, _name: string, version: number) =>
    `//@version=${version}\nlibrary("L")
export guarded(array<float> xs, int i) =>
    i < xs.size() and xs.get(i) > 0
export rounds(int most) =>
    int end = 2
    int count = 0
    for i = 0 to end
        count += 1
        if end < most
            end += 1
    count`
  const source = (own: number, version: number, value: string) =>
    `//@version=${own}\nindicator("t")\nimport a/L/${version} as lib\nplot(${value})`
  const run = (...parts: Parameters<typeof source>) => {
    const { script } = compile(source(...parts), { library })
    const made = script!.instantiate(environment(barsOf([1, 2])))
    made.advance(2)
    return plotted(made)[1]
  }

  test('and stops early in version 6, whoever imports it', () => {
    const guarded = 'lib.guarded(array.from(1.0), 5) ? 1 : 0'
    expect(run(5, 6, guarded)).toBe(0)
    expect(() => run(6, 5, guarded)).toThrow('out of bounds')
  })

  test('the end of a loop is looked at before each round in version 6', () => {
    expect(run(5, 6, 'lib.rounds(9)')).toBe(10)
    expect(run(6, 5, 'lib.rounds(9)')).toBe(3)
  })
})

describe('bad imports', () => {
  for (const [name, body, expected] of [
    [
      'a version that does not exist',
      'import TradingView/ta/99 as t\nx = t.dema(close, 9)',
      'library-not-found: There is no library TradingView/ta/99 here, only versions 1 to 14 of it. Import one of these, or add this version: Paste its source once',
    ],
    [
      'a name that another version has',
      'import TradingView/ta/7 as t\nx = t.allTimeHigh(close)',
      'not-exported: There is no `allTimeHigh` in TradingView/ta/7, which versions 2 to 6 have. Import version 6 instead.',
    ],
    [
      'a name that the library keeps to itself',
      'import TradingView/ta/7 as t\nx = t.smoothed(close, 0.1)',
      'not-exported: `smoothed` of `t` is not exported.',
    ],
    [
      'a library nobody has',
      'import me/Mine/1\nx = Mine.f(close)',
      'library-not-found: There is no library me/Mine/1 here. Paste its source once',
    ],
  ] as const)
    test(name, () => {
      const found = said(body)
      expect(found).toHaveLength(1)
      expect(found[0]).toStartWith(expected)
    })

  for (const [name, texts] of [
    ['itself', { A: 'B' }],
    ['itself through another', { A: 'B', B: 'A' }],
    ['itself through two', { A: 'B', B: 'C', C: 'A' }],
  ] as const)
    // Its `imports-itself` is quoted where the first of them is imported.
    test(`a library that imports ${name}`, () => {
      const next: Readonly<Record<string, string>> = name === 'itself' ? { A: 'A' } : texts
      const library = (_user: string, which: string) =>
        `//@version=6\nlibrary("${which}")\nimport me/${next[which]}/1 as other\nexport f(float x) => other.f(x)`
      const found = said('import me/A/1\nx = A.f(close)', { library })
      expect(found).toHaveLength(1)
      expect(found[0]).toContain('imports itself')
    })

  test('ten thousand imports', () => {
    const lines = Array.from({ length: 10_000 }, (_, i) => `import me/L${i}/1`)
    const found = said(`${lines.join('\n')}\nx = L9.f(close)`)
    expect(found).toHaveLength(1)
    expect(found[0]).toStartWith('too-many-imports: A text can import 200 libraries')
  })

  test('a library somebody added stands before ours', () => {
    const library = () => '//@version=6\nlibrary("ta")\nexport own(float x) => x'
    expect(said('import TradingView/ta/7 as t\nx = t.own(close)', { library })).toEqual([])
    expect(said('import TradingView/ta/7 as t\nx = t.dema(close, 9)', { library })).toHaveLength(1)
  })
})
