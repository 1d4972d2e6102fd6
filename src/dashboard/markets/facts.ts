// What the page calls the facts of a symbol, with a word on each.

export const FACTS = [
  ['description', 'Description', ''],
  ['currency', 'Currency', 'The currency of its prices.'],
  ['baseCurrency', 'Base currency', 'Of a currency pair; otherwise empty.'],
  ['mintick', 'Tick size', 'Prices move in steps of this.'],
  ['pointValue', 'Point value', 'What one point is worth per contract.'],
  ['minQuantity', 'Smallest quantity', 'Quantities are multiples of this.'],
  ['timezone', 'Time zone', 'Like America/New_York.'],
  ['session', 'Session', 'Like 0930-1600 or 24x7.'],
] as const
