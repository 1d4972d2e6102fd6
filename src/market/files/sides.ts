// Who was in a hurry in a trade: the buyer, who took what a seller had offered, or the seller. Exchanges write it in three ways.
//
// Binance says whether the buyer was the maker: then the seller was in a hurry. Most others name the side of who took the offer.
// Coinbase names that of the order that waited, so that a `buy` was sold.

/** A flag that is true of what was sold, the side of the taker, or that of the maker; or 1 of what was sold and 2 of what was bought. */
export type SideWords = 'flag' | 'taker' | 'maker' | 'number'

/** The names of columns, as `dialect.ts` compares them. */
const FLAGS = ['isbuyermaker', 'buyermaker', 'm', 'takersidesell']
export const SIDE_NAMES = [
  ...FLAGS,
  'side',
  'takerside',
  'aggressorside',
  'aggressor',
  'tradeside',
  'buysell',
  'direction',
  'type',
] as const

/** How the column of this name tells; without a name it is a flag. */
export function sideWordsOf(name: string | undefined, origin: string | null): SideWords {
  if (origin === 'Coinbase') return 'maker'
  if (origin === 'Gate.io') return 'number'
  return name === undefined || FLAGS.includes(name) ? 'flag' : 'taker'
}

const T = 0x74
const F = 0x66
const B = 0x62
const U = 0x75
const S = 0x73
const E = 0x65
const O = 0x6f
const D = 0x64
const ONE = 0x31
const TWO = 0x32
const A = 0x61
const ZERO = 0x30

/** 1 of what was bought, -1 of what was sold; 0 if the cell says neither. */
export function sideOf(bytes: Uint8Array, from: number, end: number, words: SideWords): number {
  const length = end - from
  const first = bytes[from]!
  if (words === 'flag') {
    if ((length === 4 && (first | 32) === T) || (length === 1 && (first === ONE || (first | 32) === T)))
      return -1
    return (length === 5 && (first | 32) === F) || (length === 1 && (first === ZERO || (first | 32) === F))
      ? 1
      : 0
  }
  if (words === 'number') return length !== 1 ? 0 : first === ONE ? -1 : first === TWO ? 1 : 0
  const bought = words === 'taker' ? 1 : -1
  const second = length === 1 ? 0 : bytes[from + 1]! | 32
  const last = bytes[end - 1]! | 32
  // Words of a past are of the trade. `bid` and `ask` are of whichever order a program has in mind, and `long` is a position.
  if ((first | 32) === B)
    return length === 1 || (length === 3 && second === U) || (length === 6 && second === O && last === T)
      ? bought
      : 0
  const isSold = length === 4 && (second === E || (second === O && last === D))
  // Databento's and Hyperliquid's letter of the ask is that of who sold in a hurry.
  const isLetter = length === 1 && ((first | 32) === S || (first | 32) === A)
  return isLetter || ((first | 32) === S && isSold) ? -bought : 0
}

const encoder = new TextEncoder()

/** The same of a cell of a table. */
export function sideOfText(value: unknown, words: SideWords): number {
  if (typeof value !== 'string' && typeof value !== 'boolean' && typeof value !== 'number') return 0
  const bytes = encoder.encode(String(value).trim())
  return sideOf(bytes, 0, bytes.length, words)
}
