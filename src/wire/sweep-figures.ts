// What figures of a sweep's trials are called, on the page and on the command line.

interface Judged {
  readonly windows: { readonly kind: string }
}

/**
 * A figure by the name that says what it is: of whole runs TradingView's, which `whole` adds; where bars are held out, the
 * curve's on the others (`SpanFigures`), open trades and all.
 */
export const trialFigure = (figure: string, { windows }: Judged, whole = ''): string =>
  figure + (windows.kind === 'holdout' ? ' (curve)' : whole)

export const drawdownName = (sweep: Judged): string => trialFigure('Max drawdown', sweep, ' (TradingView)')
