// TradingView's exports as they are today, in the languages that were seen, and the XLSX of the strategy tester.

import { describe, expect, test } from 'bun:test'
import { strToU8, unzipSync, zipSync } from 'fflate'
import { heldAgainst, untilOf } from '../../src/broker/exported/held.ts'
import { plotsHeld } from '../../src/broker/exported/plots.ts'
import { settingsIn } from '../../src/broker/exported/properties.ts'
import { readExport } from '../../src/broker/exported/read-export.ts'
import { columnOf } from '../../src/broker/exported/words.ts'
import { runBacktest } from '../../src/broker/run.ts'
import { parseTradeList, type ExportedTrade } from '../../src/broker/exported/trade-list.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { Problem } from '../../src/lib/problem.ts'
import { zoneOf } from '../../src/market/zone.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { barsFrom } from './drive.ts'
import { sheetXml, xlsxOf, type Cell, type MadeSheet } from './xlsx.ts'

/** How a language heads today's columns and calls its rows, and what it writes numbers and dates like. */
interface Made {
  readonly head: readonly string[]
  /** Entry long, exit long, entry short, exit short. */
  readonly rows: readonly [string, string, string, string]
  readonly delimiter?: ';'
  readonly date?: (wall: string) => string
}

const EXPORTS: Readonly<Record<string, Made>> = {
  'English, October 2026': {
    head: [
      'Trade number',
      'Type',
      'Date and time',
      'Signal',
      'Price USDT',
      'Size (qty)',
      'Size (value)',
      'Net PnL USDT',
      'Return %',
      'Commission USDT',
      'Favorable excursion USDT',
      'Favorable excursion %',
      'Adverse excursion USDT',
      'Adverse excursion %',
      'Cumulative PnL USDT',
      'Cumulative PnL %',
      'Duration (bars)',
    ],
    rows: ['Entry long', 'Exit long', 'Entry short', 'Exit short'],
  },
  'English, before': {
    head: [
      'Trade #',
      'Type',
      'Date/Time',
      'Signal',
      'Price EUR',
      'Position size (qty)',
      'Position size (value)',
      'Net P&L EUR',
      'Net P&L %',
      'Commission EUR',
      'Run-up EUR',
      'Run-up %',
      'Drawdown EUR',
      'Drawdown %',
      'Cum. Profit EUR',
      'Cum. Profit %',
      'Duration (bars)',
    ],
    rows: ['Entry Long', 'Exit Long', 'Entry Short', 'Exit Short'],
    date: (wall) => wall.replaceAll('-', '/'),
  },
  Russian: {
    head: [
      'Номер сделки',
      'Тип',
      'Дата и время',
      'Сигнал',
      'Цена USDT',
      'Размер (кол-во)',
      'Размер (стоимость)',
      'Чистая ПР/УБ USDT',
      'Чистая ПР/УБ %',
      'Комиссия USDT',
      'Благоприятное отклонение USDT',
      'Благоприятное отклонение %',
      'Неблагоприятное отклонение USDT',
      'Неблагоприятное отклонение %',
      'Совокупные ПР/УБ USDT',
      'Совокупные ПР/УБ %',
    ],
    rows: [
      'Вход в длинную позицию',
      'Выход из длинной позиции',
      'Вход в короткую позицию',
      'Выход из короткой позиции',
    ],
    delimiter: ';',
  },
  Japanese: {
    head: [
      'トレード番号',
      'タイプ',
      '日時',
      'シグナル',
      '価格 JPY',
      '数量',
      '価値',
      '純損益 JPY',
      'リターン %',
      '手数料 JPY',
      '最大順行幅 JPY',
      '最大順行幅 %',
      '最大逆行幅 JPY',
      '最大逆行幅 %',
      '累積損益 JPY',
      '累積損益 %',
    ],
    rows: ['ロングエントリー', 'ロング決済', 'ショートエントリー', 'ショート決済'],
  },
  'Chinese, simplified': {
    head: [
      '交易编号',
      '类型',
      '日期和时间',
      '信号',
      '价格 CNY',
      '大小（数量）',
      '大小（价值）',
      '净损益 CNY',
      '回报 %',
      '手续费 CNY',
      '有利波动 CNY',
      '有利波动 %',
      '不利波动 CNY',
      '不利波动 %',
      '累计损益 CNY',
      '累计损益 %',
      '持续时间（K线）',
    ],
    rows: ['多头进场', '多头出场', '空头进场', '空头出场'],
    date: (wall) => wall.replace(/(\d+)-0?(\d+)-0?(\d+)/, '$1年$2月$3日'),
  },
  'Chinese, traditional': {
    head: [
      '交易 #',
      '類型',
      '日期和時間',
      '訊號',
      '價格 TWD',
      '大小（數量）',
      '大小（價值）',
      '淨損益 TWD',
      '淨損益 %',
    ],
    rows: ['多頭進場', '多頭出場', '空頭進場', '空頭出場'],
  },
  German: {
    head: [
      'Trade #',
      'Typ',
      'Datum und Uhrzeit',
      'Signal',
      'Preis USD',
      'Größe (Menge)',
      'Größe (Wert)',
      'G&V netto USD',
      'G&V netto %',
      'Commission USD',
      'Positive Exkursion USD',
      'Positive Exkursion %',
      'Negative Exkursion USD',
      'Negative Exkursion %',
      'Kumulativer G&V USD',
      'Kumulativer G&V %',
    ],
    rows: ['Long-Einstieg', 'Long-Ausstieg', 'Short-Einstieg', 'Short-Ausstieg'],
    delimiter: ';',
    date: (wall) => wall.replace(/(\d+)-(\d+)-(\d+)/, '$3/$2/$1'),
  },
  French: {
    head: [
      'Numéro de trade',
      'Type',
      'Date et heure',
      'Signal',
      'Prix USD',
      'Taille (qté)',
      'Taille (valeur)',
      'P&L net USD',
      'Retour %',
      'Commission USD',
      'Excursion favorable USD',
      'Excursion favorable %',
      'Excursion adverse USD',
      'Excursion adverse %',
      'P&L cumulé USD',
      'P&L cumulé %',
      'Durée (barres)',
    ],
    rows: ['Entrer long', 'Sortir du long', 'Entrer short', 'Sortir du short'],
    delimiter: ';',
  },
  'Spanish, with a heading in English': {
    head: [
      'Trade number',
      'Tipo',
      'Fecha y hora',
      'Señal',
      'Precio USD',
      'Tamaño (cant.)',
      'Tamaño de la posición (valor)',
      'PyG netas USD',
      'PyG netas %',
      'Commission USD',
      'Desviación favorable USD',
      'Desviación favorable %',
      'Desviación adversa USD',
      'Desviación adversa %',
      'PyG acumuladas USD',
      'PyG acumuladas %',
    ],
    rows: ['Entrada en largo', 'Salida en largo', 'Entrada en corto', 'Salida en corto'],
    date: (wall) => wall.replace(/(\d+)-(\d+)-(\d+)/, '$3.$2.$1'),
  },
}

/** A long that wins 1,250.5, a short that loses 3.25, and a long that is open: number, type, wall, signal and the amounts. */
const ROWS: readonly (readonly [n: number, type: number, wall: string, signal: string, ...number[]])[] = [
  [
    1,
    1,
    '2024-03-14 08:02',
    'TP',
    11_250.5,
    1,
    10_000,
    1250.5,
    12.5,
    0.5,
    1300,
    13,
    -20.25,
    -0.2,
    1250.5,
    1.25,
    2,
  ],
  [
    1,
    0,
    '2024-03-14 08:01',
    'L',
    10_000,
    1,
    10_000,
    1250.5,
    12.5,
    0.5,
    1300,
    13,
    -20.25,
    -0.2,
    1250.5,
    1.25,
    2,
  ],
  [
    2,
    3,
    '2024-03-15 09:04',
    'Close',
    11_252.125,
    2,
    22_501,
    -3.25,
    -0.01,
    0.5,
    1,
    0.01,
    -7.5,
    -0.03,
    1247.25,
    1.24,
    2,
  ],
  [
    2,
    2,
    '2024-03-15 09:03',
    'S',
    11_250.5,
    2,
    22_501,
    -3.25,
    -0.01,
    0.5,
    1,
    0.01,
    -7.5,
    -0.03,
    1247.25,
    1.24,
    2,
  ],
  [
    3,
    1,
    '2024-03-16 10:06',
    'Open',
    11_300,
    1,
    11_290,
    10,
    0.08,
    0.5,
    12,
    0.1,
    -1.5,
    -0.01,
    1257.25,
    1.25,
    2,
  ],
  [3, 0, '2024-03-16 10:05', 'L', 11_290, 1, 11_290, 10, 0.08, 0.5, 12, 0.1, -1.5, -0.01, 1257.25, 1.25, 2],
]
const TRADES: readonly ExportedTrade[] = [
  trade(1, 'long', ['2024-03-14T08:01', 10_000, 'L'], ['2024-03-14T08:02', 11_250.5, 'TP'], 1, 1250.5, false),
  trade(
    2,
    'short',
    ['2024-03-15T09:03', 11_250.5, 'S'],
    ['2024-03-15T09:04', 11_252.125, 'Close'],
    2,
    -3.25,
    false,
  ),
  trade(3, 'long', ['2024-03-16T10:05', 11_290, 'L'], ['2024-03-16T10:06', 11_300, 'Open'], 1, 10, true),
]
type Fill = readonly [wall: string, price: number, signal: string]
function trade(
  n: number,
  side: 'long' | 'short',
  entry: Fill,
  exit: Fill,
  qty: number,
  profit: number,
  open: boolean,
) {
  const fill = ([wall, price, signal]: Fill) => ({
    wall: Date.parse(`${wall}Z`),
    dateOnly: false,
    price,
    digits: digits(price),
    signal,
  })
  return {
    n,
    side,
    entry: fill(entry),
    exit: fill(exit),
    qty,
    profit: { value: profit, digits: digits(profit) },
    open,
  }
}
function digits(value: number): number {
  return String(value).split('.')[1]?.length ?? 0
}

function csvOf({ head, rows, delimiter, date = (wall) => wall }: Made): string {
  const number = (value: number) => (delimiter ? String(value).replace('.', ',') : String(value))
  const lines = ROWS.map(([n, type, wall, signal, ...amounts]) =>
    [n, rows[type]!, date(wall), signal, ...amounts.map(number)].slice(0, head.length),
  )
  return `\uFEFF${[head, ...lines].map((cells) => cells.join(delimiter ?? ',')).join('\r\n')}`
}

const NONE_LOST = { rows: 0, trades: 0 }

describe('a list of trades', () => {
  test.each(Object.entries(EXPORTS))('in %s is read, every heading understood', (_, made) => {
    expect(parseTradeList(csvOf(made))).toEqual({
      trades: TRADES,
      problems: [],
      lost: NONE_LOST,
      unknown: [],
    })
  })

  test('with a heading that nobody knows names it, and is read without it', () => {
    const csv = csvOf(EXPORTS['English, October 2026']!).replace('Commission USDT', 'Fee of the moon USDT')
    expect(parseTradeList(csv)).toEqual({
      trades: TRADES,
      problems: [],
      lost: NONE_LOST,
      unknown: ['Fee of the moon USDT'],
    })
  })

  test('without a column that it needs, or in a language that nobody knows, is refused with what it has', () => {
    const list = parseTradeList('Número,Tipo,Data e hora,Sinal,Preço USD\n1,Entrada,2024-01-01,L,1')
    expect(list.trades).toEqual([])
    expect(list.problems).toEqual([
      {
        row: 1,
        message:
          'No columns were found for the number of the trade, date and time, the price. These headings are not understood: "Número", "Data e hora", "Sinal", "Preço USD". Set TradingView to English and export the list again.',
      },
    ])
  })

  test('with a row whose type nobody knows names the type, and keeps the other trades', () => {
    const csv = csvOf(EXPORTS['English, October 2026']!).replace('Exit short', 'Sprung ins Leere')
    const { trades, problems } = parseTradeList(csv)
    expect(trades.map(({ n, open }) => [n, open])).toEqual([
      [1, false],
      [3, true],
    ])
    expect(problems.map(({ row, message }) => [row, message.split('.')[0]])).toEqual([
      [4, 'The type "Sprung ins Leere" is not understood'],
    ])
  })

  test('whose dates may begin with the day or the month is refused, unless one of them tells', () => {
    const dated = (date: string) =>
      `Trade #,Type,Date and time,Signal,Price USD\n1,Exit long,${date} 10:00,X,2\n1,Entry long,03/04/2024 09:00,L,1`
    expect(parseTradeList(dated('05/04/2024')).problems[0]?.message).toStartWith(
      'Whether "05/04/2024 10:00" begins',
    )
    const entry = (list: string) =>
      new Date(parseTradeList(list).trades[0]!.entry.wall).toISOString().slice(0, 10)
    expect(entry(dated('13/04/2024'))).toBe('2024-04-03')
    expect(entry(dated('04/13/2024'))).toBe('2024-03-04')
  })

  test('takes a comma for what the other numbers of the file say it is', () => {
    const priced = (prices: readonly string[]) =>
      `Trade #;Type;Date and time;Signal;Price USD\n${prices.map((price, i) => `${i + 1};Entry long;2024-01-01;L;${price}`).join('\n')}`
    const read = (...prices: string[]) =>
      parseTradeList(priced(prices)).trades.map(({ entry }) => entry.price)
    expect(read('1,234', '5,5')).toEqual([1.234, 5.5])
    expect(read('1,234', '5.5')).toEqual([1234, 5.5])
    expect(read('1.234', '5,5')).toEqual([1234, 5.5])
  })

  test('has the currency of the account in its headings, or per cent', () => {
    expect(columnOf('Net PnL BTC')).toEqual({ column: 'profit', isShare: false })
    expect(columnOf('Net PnL %')).toEqual({ column: 'profit', isShare: true })
    expect(columnOf('Net PnL of USD')).toBeNull()
    expect(columnOf('Return USD')).toEqual({ column: 'returns', isShare: false })
  })
})

const BARS = barsFrom(
  Array.from({ length: 40 }, (_, i) => [0, 2, -2, 1].map((d) => 100 + d + (i % 7) * 3).join('/')).join(' '),
)
const SYMBOL = defaultSymbol('BINANCE', 'ETHUSDT')
const SOURCE = `//@version=6
strategy("s", initial_capital = 5000, commission_value = 0.1)
length = input.int(3, "Length")
on = input.bool(true, "Enabled")
src = input.source(close, "Source")
commission = input.float(1.5, "Commission")
tf = input.timeframe("60", "Frame")
if on and bar_index % (length * 2) == 0
    strategy.entry("L", strategy.long, qty = 1)
if on and bar_index % (length * 2) == length
    strategy.close("L")
`
const report = () =>
  runBacktest({
    source: SOURCE,
    inputs: {},
    bars: BARS,
    symbol: SYMBOL,
    interval: '1m',
    now: () => 0,
    limits: DEFAULT_LIMITS,
    series: () => null,
    asOf: '2026-10-01',
  }).report

const PROPERTIES: readonly (readonly Cell[])[] = [
  ['name', 'value'],
  ['Trading range', 'Jan 1, 2024, 08:05 — Jan 1, 2024, 08:30'],
  ['Backtesting range', '2024-01-01 00:10 — 2024-01-01 00:35'],
  ['Symbol', 'BINANCE:ETHUSDT'],
  ['Timeframe', '15 minutes'],
  ['Chart type', 'Candles'],
  ['Point value', 1],
  ['Currency', 'USDT'],
  ['Tick size', 0.01],
  ['Precision', 'Default'],
  ['Length', 7],
  ['Enabled', 'Off'],
  ['Source', 'HL2'],
  ['Commission', 2.25],
  ['Frame', '4 hours'],
  ['Colour of the moon', 'green'],
  ['Initial capital', 250000],
  ['Order size', '100% of equity'],
  ['Pyramiding', '5 orders'],
  ['Commission', '0.05%'],
  ['Slippage', '2 ticks'],
  ['Verify price for limit orders', '3 ticks'],
  ['Margin for long positions', '50 %'],
  ['Margin for short positions', 0],
  ['Recalculate after order is filled', 'On'],
  ['Recalculate on every tick', false],
  ['Recalculate on bar close', 'On'],
  ['Backtesting precision. Use bar magnifier', 'Off'],
]
const INPUTS = { Length: 3, Enabled: true, Source: 'close', Commission: 1.5, Frame: '60' }
const SETTINGS = {
  exchange: 'BINANCE',
  symbol: 'ETHUSDT',
  interval: '15m',
  range: { from: '2024-01-01 00:10', to: '2024-01-01 00:35' },
  inputs: { Length: 7, Enabled: false, Source: 'hl2', Commission: 2.25, Frame: '240' },
  overrides: {
    initial_capital: 250_000,
    default_qty_type: 'percent_of_equity',
    default_qty_value: 100,
    pyramiding: 5,
    commission_type: 'percent',
    commission_value: 0.05,
    slippage: 2,
    backtest_fill_limits_assumption: 3,
    margin_long: 50,
    margin_short: 0,
    calc_on_order_fills: true,
    calc_on_every_tick: false,
    process_orders_on_close: true,
    use_bar_magnifier: false,
  },
  facts: { pointvalue: 1, mintick: 0.01 },
  unknown: ['"Colour of the moon: green": neither a property that is known nor an input of the script.'],
}

function listSheet(made: Made, name = 'List of trades'): MadeSheet {
  const rows = ROWS.map(([n, type, wall, signal, ...amounts]): Cell[] =>
    [n, made.rows[type]!, new Date(`${wall.replace(' ', 'T')}Z`), signal, ...amounts].slice(
      0,
      made.head.length,
    ),
  )
  return { name, rows: [made.head, ...rows] }
}
const ENGLISH = listSheet(EXPORTS['English, October 2026']!)

describe('an XLSX', () => {
  test.each(Object.entries(EXPORTS))('with a list of trades in %s is read', async (_, made) => {
    const read = await readExport(xlsxOf([{ name: 'Blatt', rows: [['a', 1]] }, listSheet(made, 'Trades')]))
    expect(read.list).toEqual({ trades: TRADES, problems: [], lost: NONE_LOST, unknown: [] })
    expect(read.unknown).toEqual(['The sheet "Blatt" is not understood: nothing is taken from it.'])
  })

  test('says range, symbol, interval, inputs and every property', async () => {
    const { properties } = await readExport(xlsxOf([ENGLISH, { name: 'Properties', rows: PROPERTIES }]))
    expect(settingsIn(properties!, INPUTS)).toEqual(SETTINGS)
  })

  test('says them as TradingView writes them in sections, too, and in Chinese', () => {
    const sections = [
      ['Date range', ''],
      ['Strategy properties', ''],
      ['Account currency', 'EUR'],
      ['Order size', '1,000 EUR'],
      ['Commission', '2.5 EUR per order'],
      ['Long leverage', '5x'],
      ['Recalculate', 'After order is filled: Off, On every tick: On'],
      ['Fill orders', 'On bar close: Off, Using bar magnifier: On, Using standard OHLC: On'],
    ]
    expect(settingsIn(sections, {})).toMatchObject({
      overrides: {
        currency: 'EUR',
        default_qty_type: 'cash',
        default_qty_value: 1000,
        commission_type: 'cash_per_order',
        commission_value: 2.5,
        margin_long: 20,
        calc_on_order_fills: false,
        calc_on_every_tick: true,
        process_orders_on_close: false,
        use_bar_magnifier: true,
        fill_orders_on_standard_ohlc: true,
      },
      unknown: [],
    })
    const chinese = [
      ['商品代码', 'OKX:BTCUSDT.P'],
      ['交易范围', '2026年1月1日 — 2026年7月13日'],
      ['初始资金', '1000'],
      ['佣金', '0.05'],
    ]
    expect(settingsIn(chinese, {})).toMatchObject({
      exchange: 'OKX',
      symbol: 'BTCUSDT.P',
      range: { from: '2026-01-01 00:00', to: '2026-07-13 23:59' },
      overrides: { initial_capital: 1000 },
      unknown: ['"佣金: 0.05": its unit is not known.'],
    })
  })

  test.each([
    ['Order size', '3 bananas', 'its unit is not known'],
    ['Timeframe', 'a while', 'this is no interval that is known'],
    ['Symbol', 'ETHUSDT', 'this is no symbol with its exchange'],
    ['Trading range', 'for ever', 'this is no range of two dates'],
    ['Pyramiding', '2.5', 'it takes a whole number, 0 or more'],
    ['Length', '1,5', 'the input takes no such value'],
    ['Enabled', 'perhaps', 'the input takes no such value'],
    ['Source', 'Volume of the moon', 'the input takes no such value'],
  ])('whose %s is "%s" sets nothing of it and says why', (name, value, why) => {
    const found = settingsIn([[name, value]], INPUTS)
    expect(found).toMatchObject({ symbol: null, interval: null, range: null, inputs: {}, overrides: {} })
    expect(found.unknown).toEqual([`"${name}: ${value}": ${why}.`])
  })

  test('is held against a run: what differs, how many bars its range is, and the figures cell by cell', async () => {
    const own = report()
    const figures = (change: number, per: number): MadeSheet[] => [
      {
        name: 'Performance',
        rows: [
          ['', 'All USDT', 'All %', 'Long USDT', 'Long %', 'Short USDT', 'Short %'],
          ['Initial capital', 5000, null, null, null, null, null],
          [
            'Net profit',
            own.all.netProfit + change,
            own.all.netProfitPct * per,
            own.long.netProfit,
            own.long.netProfitPct * per,
            0,
            0,
          ],
          ['Gross loss', -own.all.grossLoss, own.all.grossLossPct * per, own.long.grossLoss, null, 0, 0],
          [
            'Max equity drawdown (intrabar)',
            own.equity.maxDrawdown,
            own.equity.maxDrawdownPct * per,
            null,
            null,
            null,
            null,
          ],
          ['Phase of the moon', 3, null, null, null, null, null],
        ],
      },
      {
        name: 'Trades analysis',
        rows: [
          ['', 'All USDT', 'All %'],
          ['Total trades', own.all.trades, null],
          ['Percent profitable', null, own.all.winRate! * per],
        ],
      },
      {
        name: 'Risk performance ratios',
        rows: [
          ['', 'All'],
          ['Profit factor', own.all.profitFactor],
        ],
      },
    ]
    for (const per of [1, 100]) {
      const held = async (change: number) =>
        heldAgainst(
          await readExport(
            xlsxOf([ENGLISH, ...figures(change, per), { name: 'Properties', rows: PROPERTIES }]),
          ),
          own,
          BARS,
          zoneOf('UTC')!,
        )
      const same = await held(0)
      expect(same.figures.filter(({ agrees }) => !agrees)).toEqual([])
      expect(same.figures).toHaveLength(17)
      // The run has bars of a minute, so those of a quarter of an hour are estimated.
      expect(same.settings.bars).toBe(3)
      expect(same.settings.differs).toEqual([
        'interval',
        'bars',
        'input Length',
        'input Enabled',
        'input Source',
        'input Commission',
        'input Frame',
        'initial_capital',
        ...Object.keys(SETTINGS.overrides).filter(
          (name) => same.settings.differs.includes(name) && name !== 'initial_capital',
        ),
      ])
      expect(same.settings.differs).toContain('margin_long')
      expect(same.settings.differs).not.toContain('calc_on_every_tick')
      expect(same.settings.unknown).toEqual([
        ...SETTINGS.unknown,
        'The figure "Phase of the moon" of the sheet "Performance" is not known.',
      ])
      const other = await held(0.02)
      expect(other.figures.filter(({ agrees }) => !agrees)).toEqual([
        {
          sheet: 'Performance',
          name: 'Net profit',
          of: 'all',
          isShare: false,
          expected: expect.closeTo(own.all.netProfit + 0.02, 9),
          found: own.all.netProfit,
          agrees: false,
        },
      ])
    }
  })

  test('whose range begins within the bars of the run has so many of the newest', async () => {
    const rows = [
      ['Timeframe', '1'],
      ['Trading range', '2024-01-01 00:10 — 2024-01-01 00:35'],
    ]
    const read = await readExport(xlsxOf([ENGLISH, { name: 'Properties', rows }]))
    expect(heldAgainst(read, report(), BARS, zoneOf('UTC')!).settings).toMatchObject({
      bars: 30,
      differs: ['bars'],
    })
    // The clock of the export is an hour ahead.
    expect(heldAgainst(read, report(), BARS, zoneOf('UTC+1')!).settings.bars).toBe(90)
  })

  test('that names days begins with the first bar of the run, though the market opens after midnight', async () => {
    const held = async (from: string) => {
      const rows = [['Trading range', `${from} — 2024-01-02`]]
      const read = await readExport(xlsxOf([ENGLISH, { name: 'Properties', rows }]))
      return heldAgainst(read, report(), BARS, zoneOf('UTC+1')!).settings
    }
    expect(await held('2024-01-01')).toMatchObject({ bars: BARS.length, differs: [] })
    expect((await held('2023-12-30')).bars).toBeGreaterThan(1000)
  })

  test('ends where its range does', async () => {
    const read = await readExport(xlsxOf([ENGLISH, { name: 'Properties', rows: PROPERTIES }]))
    expect(untilOf(read)).toBe(Date.UTC(2024, 0, 1, 0, 35))
    expect(untilOf(await readExport(xlsxOf([ENGLISH])))).toBeUndefined()
  })

  test('refuses shares where no sheet tells whether they are per cent', async () => {
    const rows: MadeSheet['rows'] = [
      ['', 'All %'],
      ['Percent profitable', 50],
    ]
    const read = await readExport(xlsxOf([ENGLISH, { name: 'Trades analysis', rows }]))
    const { figures, settings } = heldAgainst(read, report(), BARS, zoneOf('UTC')!)
    expect([figures, settings.unknown]).toEqual([
      [],
      ['Whether shares stand in per cent or as fractions, no sheet tells: they are not compared.'],
    ])
  })
})

/** The archive with another size of the unpacked part than it has. */
function lying(bytes: Uint8Array, part: string, size: number): Uint8Array {
  const at = Buffer.from(bytes).lastIndexOf(part)
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(at - 46 + 24, size, true)
  return bytes
}

describe('a file that is no export', () => {
  const sheet = 'xl/worksheets/sheet1.xml'
  const long = `<worksheet><sheetData>${'<row><c><v>1</v></c></row>'.repeat(100_001)}</sheetData></worksheet>`
  const far = sheetXml([['a']]).replace('r="A1"', 'r="XFD1048576"')
  const cases: readonly (readonly [string, () => Uint8Array, string])[] = [
    ['a text', () => strToU8('Trade #,Type'), 'is no XLSX'],
    ['nothing', () => new Uint8Array(), 'is no XLSX'],
    ['encrypted', () => new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]), 'is encrypted'],
    ['an archive that breaks off', () => xlsxOf([ENGLISH]).slice(0, 900), 'archive cannot be unpacked'],
    ['another archive', () => zipSync({ 'a.xml': strToU8('<a/>') }), 'has no workbook in it'],
    ['a million rows', () => xlsxOf([ENGLISH], { [sheet]: strToU8(long) }), 'has more than 100000 rows'],
    ['one cell far away', () => xlsxOf([ENGLISH], { [sheet]: strToU8(far) }), 'has cells beyond column 64'],
    ['a bomb', () => lying(xlsxOf([ENGLISH]), sheet, 65 << 20), 'unpacks to more than 64 MB'],
    ['a bomb that says it is small', () => lying(xlsxOf([ENGLISH]), sheet, 100), 'cannot be read'],
    [
      'a formula',
      () => xlsxOf([ENGLISH], { [sheet]: strToU8(sheetXml([[1]]).replace('<v>', '<f>SUM(B1:B9)</f><v>')) }),
      'has formulas',
    ],
    [
      'XML that is none',
      () => xlsxOf([ENGLISH], { [sheet]: strToU8('<worksheet><sheetData><row') }),
      'cannot be read',
    ],
    [
      'without a list',
      () => xlsxOf([{ name: 'Свойства', rows: [['Имя', 'Значение']] }]),
      'No sheet of the export is understood as the list of trades; it has "Свойства".',
    ],
  ]
  test.each(cases)('%s is refused in one sentence', async (_, bytes, says) => {
    const failure = await readExport(bytes()).then(
      () => null,
      (error: unknown) => error,
    )
    expect(failure).toMatchObject({ status: 422, message: expect.stringContaining(says) })
  })
})

test('a plot without a title is found under the name that TradingView gives it', () => {
  const rows = Array.from(BARS.time, (time, i) => [time / 1000, 1, 1, 1, 1, BARS.close[i], BARS.high[i], 5])
  const csv = ['time,open,high,low,close,Plot,Shapes,Chars', ...rows].join('\n')
  const { tracks } = runBacktest({
    source: '//@version=6\nindicator("x")\nplot(close)\nplotshape(high)\nplotchar(low)\n',
    inputs: {},
    bars: BARS,
    symbol: SYMBOL,
    interval: '1m',
    now: () => 0,
    limits: DEFAULT_LIMITS,
    series: () => null,
  })
  const { figures, unknown } = plotsHeld(csv, tracks, BARS)
  expect(figures.map(({ name, agrees }) => [name.split(':')[0], agrees])).toEqual([
    ['Plot', true],
    ['Shapes', true],
    ['Chars', false],
  ])
  expect(unknown).toEqual([])
})

test('a damaged file is read or refused, and nothing else', async () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  const whole = xlsxOf([ENGLISH, { name: 'Properties', rows: PROPERTIES }])
  const next = mulberry(seed)
  for (let round = 0; round < 80; round++) {
    // Stored parts are damaged inside of their XML, packed ones in the archive.
    const bytes = round % 2 === 0 ? whole.slice() : zipSync(unzipSync(whole), { level: 0 })
    for (let i = 0; i < 4; i++) bytes[Math.floor(next() * bytes.length)] = Math.floor(next() * 256)
    const failure = await readExport(bytes).then(
      ({ properties }) => settingsIn(properties ?? [], INPUTS) && null,
      (error: unknown) => error,
    )
    if (failure !== null && !(failure instanceof Problem && failure.status === 422))
      throw new Error(`seed ${seed}, round ${round}`, { cause: failure })
  }
})

function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
