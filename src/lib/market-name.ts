// Apart from what else is asked of texts: the chart needs this before anything, and no more of it.

/**
 * An exchange's or a ticker's name as it is stored: in upper case, as TradingView has them, and composed (NFC), since
 * the `é` of one keyboard is an `e` and an accent on another, and both mean the same symbol.
 */
export function marketName(text: string): string {
  return text.normalize('NFC').toUpperCase().normalize('NFC')
}
