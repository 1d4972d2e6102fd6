// Public material to compare the engine with, and what is known about each difference.
//
// Everybody can fetch it; none of it is ours, and none is kept here. A clone belongs in a folder named OWNER+NAME.

export interface Source {
  /** The repository on GitHub. */
  readonly repository: string
  readonly what: 'trades' | 'scripts'
  readonly licence: string
}

export const SOURCES: readonly Source[] = [
  { repository: 'pineforge-4pass/pineforge-corpus', what: 'trades', licence: 'Apache-2.0' },
  { repository: 'fmzquant/strategies', what: 'scripts', licence: 'not stated' },
  { repository: 'mihakralj/pinescript', what: 'scripts', licence: 'MIT' },
  { repository: 'CAHEAFIELD/pinescript', what: 'scripts', licence: 'see its LICENSE' },
  { repository: 'liusmycroft/tradingview_prof_backtest', what: 'scripts', licence: 'not stated' },
  { repository: 'Alorse/pinescript-strategies', what: 'scripts', licence: 'not stated' },
  { repository: 'shubhamtaywade82/pinescripts-collections', what: 'scripts', licence: 'not stated' },
  { repository: 'ArunKBhaskar/PineScript', what: 'scripts', licence: 'see its LICENSE' },
  { repository: 'chris-c-thomas/pinescripts', what: 'scripts', licence: 'see its LICENSE' },
]

/** For each case, why its trades are not all TradingView's. The scoreboard says so if a difference has no reason here. */
export const REASONS: Readonly<Record<string, string>> = {
  'ltf-numeric-float-ratio15-01': 'reads 1-minute bars, which the repository does not have',
  'magnifier-tick-dist-endpoints-rsi-cross-08a':
    'wants the bar magnifier, for which its finer bars are missing',
  'ta-pivot-atr-stop-target-01':
    'exported with the bar magnifier on, which the script does not say: eight fills lie outside the bar they are stamped with',
  '020_bar_magnifier__magnifier_sl_hits_before_tp_when_price_goes_down_first':
    'expects a market order to fill on the bar that places it; every measured list says on the next one',
  '045_sticky_partial_bracket__no_qty_rest_leg_closes_only_its_slice':
    'expects a position one bar before the trade that opens it',
}
