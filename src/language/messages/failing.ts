// What ends a run: mistakes that only show when the script runs, and limits that it goes beyond.
//
// `ScriptError` carries the place in the source, which the run finds. A sentence says what was found and, where that is not
// plain, what to write instead.

import { ScriptError } from '../script-error.ts'

const fails = (message: string) => new ScriptError(message)
const exceeds = (message: string) => new ScriptError(message, 'script_limit_exceeded')
const long = (number: number) => number.toLocaleString('en')

// The run as a whole.
export const tooLargeToRun = () =>
  exceeds('The script is too large or nested too deep to be run. Give parts of it to functions, or split it.')
export const ranTooLong = (seconds: number) =>
  exceeds(`The script ran for more than ${seconds} s and was stopped.`)
export const tookTooMuchMemory = (bytes: number) =>
  exceeds(
    `The script took more than ${long(Math.round(bytes / 2 ** 20))} MB of memory and was stopped. Keep less in arrays, maps, texts and drawings, plot less, or run it on fewer bars.`,
  )
/** `told` is what the engine says of it. */
export const outOfMemory = (told: string) =>
  exceeds(`The script needs more memory than it may have (${told}).`)
export const calledTooDeeply = () => exceeds('The script calls functions too deeply.')
export const tooManyFrames = (count: number, most: number) =>
  exceeds(
    `The script's functions call each other in ${long(count)} places in all; ${long(most)} are allowed.`,
  )
export const tooManySeries = (count: number, bars: number) =>
  exceeds(
    `The script keeps ${count} series, too many for ${long(bars)} bars. Plot fewer of them, or run it on fewer bars.`,
  )
export const tooManyRounds = (most: number) =>
  exceeds(`The loops of one bar may run ${long(most)} rounds in all.`)
export const tooManyOrders = (most: number) =>
  exceeds(`More than ${long(most)} orders wait at once. Cancel old ones, or place fewer on a bar.`)

// Operators and arguments.
export const stepNotAbove0 = (step: number) => fails(`The step of a for loop is ${step}; it must be above 0.`)
export const fieldOfNa = () => fails('Cannot access a field of an object that is na (RE10041).')
export const loopsOverNa = () => fails('Cannot loop over a collection that is na.')
export const offsetBelow0 = (offset: number) =>
  fails(`History offset ${offset} is negative: x[n] looks n bars back, so n must be 0 or more (RE10008).`)
/** `expected` says what it must be: `above 0`. */
export const invalidArgument = (
  argument: string,
  value: number | string | null,
  name: string,
  expected: string,
) => {
  const found = value === null || Number.isNaN(value) ? 'na' : String(value)
  return fails(`\`${name}\` got ${found} as its \`${argument}\`; it must be ${expected}.`)
}
export const noDevelopingWoodie = () =>
  fails(
    '`ta.pivot_point_levels` has no developing Woodie levels: they start from the open of the period after.',
  )
export const unknownDateLetter = (letter: string) =>
  fails(`'${letter}' stands for no part of a date. Write text in a pattern between single quotes: 'T'.`)
export const unknownZone = (name: string) =>
  fails(
    `Unknown time zone '${name}'. Use an IANA name such as "America/New_York", or an offset such as "UTC-5".`,
  )
export const unknownTimeframe = (text: string) =>
  fails(
    `Unknown timeframe '${text}'. Use minutes ("60"), or a number and S, D, W or M ("15S", "1D", "1W", "1M").`,
  )
export const unknownSession = (text: string) =>
  fails(
    `Cannot read the session '${text}'. Write it as "0930-1600" or, with days from 1 (Sunday) to 7, "0930-1600:23456".`,
  )
export const unknownDate = (text: string | null) =>
  fails(
    `Cannot read the date '${text}' (CE10275). Write it as "2020-02-20 15:30", "20 Feb 2020 15:30 GMT+2" or "Feb 20 2020 15:30".`,
  )
export const unknownDirection = (text: string | null) =>
  fails(`Unknown direction '${text}'. Use strategy.direction.all, .long or .short.`)
export const orderWithoutDirection = (kind: string, found: string | null) =>
  fails(`The direction of strategy.${kind}() must be strategy.long or strategy.short, not '${found}'.`)
export const unknownRiskType = (type: string | null) =>
  fails(`Unknown type '${type}'. Use strategy.percent_of_equity or strategy.cash.`)

// Strings.
export const stringTooLong = (length: number, most: number) =>
  exceeds(`A string may have ${most} characters at most; this one would have ${length}.`)
export const stringWouldBeTooLong = (length: number, most: number) =>
  exceeds(
    `The string would have ${length} characters, more than the limit of ${most}. Build shorter strings, or several of them.`,
  )
export const invalidSubstring = (from: number, to: number) =>
  fails(
    `Cannot take the characters from ${from} to ${to}: 'begin_pos' must be 0 or more and not above 'end_pos'.`,
  )
/** `why` is a clause: its groups are nested too deep. */
export const invalidRegex = (pattern: string, why: string) =>
  fails(`Cannot use the regular expression '${pattern.slice(0, 80)}': ${why}.`)
export const openBrace = (format: string) =>
  fails(
    `Cannot use the format string '${format}': a '{' has no '}'. For a brace itself, write it in single quotes: '{'.`,
  )
export const noPlaceholder = (format: string, found: string) =>
  fails(
    `Cannot use the format string '${format}': '{${found}}' is no placeholder. Write '{0}' for the first argument.`,
  )

// Arrays, matrices and maps.
const NEW = {
  array: 'array.new<type>()',
  matrix: 'matrix.new<type>(rows, columns)',
  map: 'map.new<type, type>()',
} as const
/** TradingView's codes. */
const OF_NA = { array: ' (RE10052)', matrix: ' (RE10053)', map: '' } as const
export const collectionIsNa = (name: string, kind: keyof typeof NEW) =>
  fails(`Cannot call '${name}()' because the ${kind} is na${OF_NA[kind]}. Create it with ${NEW[kind]}.`)
export const changesPast = (kind: 'array' | 'matrix') =>
  fails(
    `Cannot change ${kind === 'array' ? 'an array' : 'a matrix'} of a bar before, which came from [] (RE10051). Change a copy: ${kind}.copy(x[1]).`,
  )
const GROWN = {
  array: ['elements', 'Remove old elements with array.shift() before adding new ones.'],
  matrix: ['elements', 'Use fewer rows or columns.'],
  map: ['pairs', 'Remove pairs with map.remove() before adding new ones.'],
  newArray: ['elements', "Ask for fewer with 'size'."],
} as const
export const tooLarge = (what: keyof typeof GROWN, size: number, most: number) => {
  const [parts, remedy] = GROWN[what]
  const noun = what === 'newArray' ? 'array' : what
  return exceeds(`The ${noun} would have ${size} ${parts}, more than the limit of ${most}. ${remedy}`)
}
export const arraySizeBelow0 = (size: number) =>
  fails(`Cannot create an array of ${size} elements: 'size' must be 0 or more.`)
export const arrayIsEmpty = (name: string) =>
  fails(`Cannot call '${name}()' because the array is empty. Test 'array.size(id) > 0' first.`)
export const outOfBounds = (index: number, size: number) =>
  fails(`Index ${index} is out of bounds, array size is ${size} (RE10045).`)
export const invalidSlice = (from: number, to: number) =>
  fails(
    `Cannot take a slice from index ${from} to index ${to}: 'index_from' must not be greater than 'index_to' (RE10044).`,
  )
export const resizesRow = () =>
  fails(
    "Cannot add elements to a row of a matrix, or take some out: the row of `for … in` is the matrix's own. Change a copy, row.copy(), or the matrix by matrix.add_col() and matrix.remove_col().",
  )
export const sortsByFieldOfNa = () =>
  fails('Cannot sort by a field of objects when one of them is na. Remove those that are na.')
export const cannotSortBy = (field: string | number | null) =>
  fails(
    `Cannot sort by ${typeof field === 'string' ? `the field '${field}'` : `field ${field ?? 0}`}: it has to be a number or a string of every object. Name another with 'sort_field'.`,
  )
export const searchesTexts = () =>
  fails('Only numbers can be searched for by halves: the field of the objects is a string.')
export const covarianceOfSizes = (one: number, other: number) =>
  fails(`Cannot take the covariance of arrays of ${one} and ${other} elements: they must have the same size.`)
export const matrixSizeBelow0 = (rows: number, columns: number) =>
  fails(`Cannot create a matrix of ${rows} × ${columns} elements: both must be 0 or more.`)
type Line = 'row' | 'column'
export const noSuchLine = (what: Line, index: number, count: number) =>
  fails(`The ${what} index ${index} is out of bounds, the matrix has ${count} ${what}s.`)
export const noSuchLines = (what: Line, from: number, to: number, count: number) =>
  fails(`The ${what}s from ${from} to ${to} are out of bounds, the matrix has ${count} ${what}s.`)
export const lineOfOtherSize = (what: Line, size: number, wanted: number) =>
  fails(`Cannot add a ${what} of ${size} elements: the other ${what}s of the matrix have ${wanted}.`)
export const joinsOtherColumns = (columns: number, added: number) =>
  fails(`Cannot join matrices of ${columns} and ${added} columns: they must have the same number.`)
export const invalidShape = (size: number, rows: number, columns: number) =>
  fails(`Cannot reshape ${size} elements to ${rows} × ${columns}: the number of elements must stay the same.`)
/** Sizes as `2 × 3`. */
export const matricesOfSizes = (name: string, one: string, other: string) =>
  fails(`Cannot call '${name}()' on matrices of ${one} and ${other} elements: they must have the same size.`)
export const cannotMultiply = (columns: number, rows: number) =>
  fails(
    `Cannot multiply a matrix of ${columns} columns by one of ${rows} rows: the numbers must be the same.`,
  )
export const powerBelow0 = (power: number) =>
  fails(`Cannot raise a matrix to the power ${power}: 'power' must be 0 or more.`)
export const notSquare = (name: string, size: string) =>
  fails(`Cannot call '${name}()' on a matrix of ${size} elements: it needs as many rows as columns.`)

// Drawings.
export const priceNeedsBarIndex = () =>
  fails('line.get_price() needs a line with xloc.bar_index; this one has xloc.bar_time.')
export const invalidTable = (columns: number, rows: number) =>
  fails(`Cannot make a table of ${columns} × ${rows} cells: give it fewer, and one at least.`)
export const noSuchCell = (column: number, row: number, columns: number, rows: number) =>
  fails(
    `Column ${column}, row ${row} is out of the table's bounds: it has ${columns} columns and ${rows} rows.`,
  )
export const polylineTooLong = (points: number) =>
  exceeds(`A polyline of ${points} points is more than the limit of 10,000. Draw several.`)

// Other series.
export const tooManyRequests = (most: number) =>
  exceeds(
    `A script may call request.*() in ${most} different ways; this is one more. Ask for several values at once, as a tuple or an object.`,
  )
export const handsOutTooMuch = (most: number) =>
  exceeds(
    `request.*() copies the collection it asks for on every bar: that is more than ${long(most)} elements by now. Ask for the value you need, not for all of them.`,
  )
export const requestsItself = () =>
  fails('A request.security() needs its own result: what it evaluates leads back to the call itself.')
export const notALowerTimeframe = (timeframe: string | null) =>
  fails(
    `request.security_lower_tf() asks for "${timeframe}", which is no lower timeframe than the chart's. Pass ignore_invalid_timeframe = true to get na then.`,
  )
export const noTicks = (timeframe: string) =>
  fails(`request.security() needs "${timeframe}" bars of ticks; there are none here.`)
export const notATimeframe = (timeframe: string) =>
  fails(`"${timeframe}" is no timeframe. Examples: "60", "240", "D", "W".`)
export const barsMissing = (interval: string, market: string) =>
  fails(
    `request.security() needs ${interval} bars of ${market}. Import them, or pass ignore_invalid_symbol = true.`,
  )
export const tooManyPriceBars = (kind: string, most: number, box: number) =>
  exceeds(`ticker.${kind}() makes more than ${long(most)} bars with a box of ${box}. Take a larger one.`)
export const boxNotAbove0 = (kind: string, name: string, found: string) =>
  fails(`ticker.${kind}() needs a ${name} above 0, but it is ${found}.`)
export const unknownBoxStyle = (kind: string, style: string) =>
  fails(`"${style}" is no style of ticker.${kind}(). There are "ATR", "Traditional" and "PercentageLTP".`)
