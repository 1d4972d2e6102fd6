// Public material to compare the engine with, what is known about each difference, and what others publish of themselves.
//
// Everybody can fetch it; none of it is ours, and none is kept here.

export interface Source {
  /** The repository on GitHub. */
  readonly repository: string
  readonly what: 'trades' | 'scripts'
  readonly licence: string
  /** A file or folder that only this repository has, by which a clone is known whatever its folder is called. */
  readonly knownBy: string
}

export const SOURCES: readonly Source[] = [
  {
    repository: 'pineforge-4pass/pineforge-corpus',
    what: 'trades',
    licence: 'Apache-2.0',
    knownBy: 'validation/anomaly-equity-mirror-strategy-equity-01',
  },
  {
    repository: 'fmzquant/strategies',
    what: 'scripts',
    licence: 'not stated',
    knownBy: '15MIN-BTCUSDTPERP-BOT.md',
  },
  { repository: 'mihakralj/pinescript', what: 'scripts', licence: 'MIT', knownBy: 'tools/filecheck.js' },
  { repository: 'CAHEAFIELD/pinescript', what: 'scripts', licence: 'see its LICENSE', knownBy: 'Craig' },
  {
    repository: 'liusmycroft/tradingview_prof_backtest',
    what: 'scripts',
    licence: 'not stated',
    knownBy: 'SKILL.md',
  },
  {
    repository: 'Alorse/pinescript-strategies',
    what: 'scripts',
    licence: 'not stated',
    knownBy: '40in1.md',
  },
  {
    repository: 'shubhamtaywade82/pinescripts-collections',
    what: 'scripts',
    licence: 'not stated',
    knownBy: 'ast-supertrend.pine',
  },
  {
    repository: 'ArunKBhaskar/PineScript',
    what: 'scripts',
    licence: 'see its LICENSE',
    knownBy: 'ICT Equal Highs and Lows',
  },
  {
    repository: 'chris-c-thomas/pinescripts',
    what: 'scripts',
    licence: 'see its LICENSE',
    knownBy: 'scripts/spy-0dte-scalper',
  },
]

const SHORTER =
  'its list begins three weeks after the others that were exported with it, over a range that no file states: all that differs are trades before it begins'
const EQUITY =
  "sizes its orders by `strategy.equity`, which TradingView keeps in USD at each day's rate of USDT; times and prices agree"

/** For each case, why its trades are not all TradingView's. The scoreboard says so if a difference has no reason here. */
export const REASONS: Readonly<Record<string, string>> = {
  'analyzer-parity-edge-margin-50-pct-01': EQUITY,
  'analyzer-parity-small-equity-fraction-01': EQUITY,
  'composite-ies-equity-feedback-sizing-01': EQUITY,
  'analyzer-self-test-multi-mode-01': SHORTER,
  'anomaly-equity-mirror-strategy-equity-01':
    "asks for all of the equity each time, which TradingView's rate of USDT allows or does not; PineForge has it as an anomaly, too",
  'mtf-daily-prev-high-break-01': SHORTER,
  'mtf-dual-tf-60-240-rising-01': SHORTER,
  'mtf-htf-60-close-roll-01': SHORTER,
  'mtf-htf-60-rsi14-inside-security-01': SHORTER,
  'mtf-htf-60-sma20-inside-security-01': SHORTER,
  'mtf-htf-60-volume-spike-01': SHORTER,
  'ta-pivot-atr-stop-target-01':
    'exported with the bar magnifier on, which the script does not say: eight fills lie outside the bar they are stamped with',
  '020_bar_magnifier__magnifier_sl_hits_before_tp_when_price_goes_down_first':
    'expects a market order to fill on the bar that places it; every measured list says on the next one',
  '045_sticky_partial_bracket__no_qty_rest_leg_closes_only_its_slice':
    'expects a position one bar before the trade that opens it',
}

/** What others say of themselves, in their own words, and how far that was measured on what stands here. */
export const OTHERS: readonly {
  readonly name: string
  readonly says: string
  readonly date: string
  readonly where: string
  readonly common: string
}[] = [
  {
    name: 'PineForge',
    says: '245 of 246 strategies of its corpus excellent, one anomaly',
    date: '2026-06-10',
    where:
      '[validation_report.md](https://github.com/pineforge-4pass/pineforge-corpus/blob/main/validation_report.md)',
    common:
      'The same scripts, exports and bars as the row of its corpus, but with each case’s settings. Excellent allows 1 % of the trades to be missing and a tenth of the prices to be any other; whole, here, allows neither.',
  },
  {
    name: 'PineForge',
    says: '309 of 311 excellent',
    date: '2026-08-14',
    where: '[README of its engine](https://github.com/pineforge-4pass/pineforge-engine)',
    common: '66 of them are not in the snapshot that stands here.',
  },
  {
    name: 'PyneCore',
    says: '99.771 % of 132 million plotted values bit-identical, 353,577 trades in time, 1,000 scripts',
    date: '2026-10-24',
    where: '[its page of releases](https://pypi.org/project/pynesys-pynecore/6.15.0/)',
    common: 'None: other scripts, other bars. Its measured rules are facts here.',
  },
  {
    name: 'PyneCore',
    says: '85 of 100 strategies excellent, measured by PineForge',
    date: '2026-06-11',
    where: '[README of PineForge’s engine](https://github.com/pineforge-4pass/pineforge-engine)',
    common: '50 of the 100 are of the corpus that stands here.',
  },
  {
    name: 'PineTS',
    says: 'how much of the language it covers; no figure against TradingView',
    date: '2026-11-28',
    where: '[its README](https://github.com/LuxAlgo/PineTS)',
    common: 'None.',
  },
  {
    name: 'TealScript',
    says: '988 of 989 of its vectors',
    date: '2026-10',
    where:
      '[reports of its probes](https://github.com/Tealstreet/tealchart/tree/main/packages/tealscript/oracle-probes)',
    common: 'Half of its rounds of probes are facts here; its vectors are tests of its own.',
  },
]
