// "Bring your TradingView export": files as they come from different languages, formats and clocks.

import { describe, expect, test } from 'bun:test'
import { compareTrades } from '../../src/broker/compare.ts'
import type { ReportTrade } from '../../src/wire/report.ts'
import { digitsOf, numberOf, parseTradeList, wallOf } from '../../src/broker/exported/trade-list.ts'
import { tradeListCsv } from '../../src/wire/trade-list.ts'
import { barsFrom } from './drive.ts'

/** The same two trades each time: a long from 100 to 110, a short of 2 from 110.5 to 111. */
const EXPORTS: Readonly<Record<string, string>> = {
  'English, 2025': `\uFEFFTrade #,Type,Date and time,Signal,Price USDT,Position size (qty),Position size (value),Net P&L USDT,Net P&L %,Favorable excursion USDT,Favorable excursion %,Adverse excursion USDT,Adverse excursion %,Cumulative P&L USDT,Cumulative P&L %
1,Exit long,2024-01-01 08:02,TP,110,1,100,10,10,11,11,-1,-1,10,0.01
1,Entry long,2024-01-01 08:01,L,100,1,100,10,10,11,11,-1,-1,10,0.01
2,Exit short,2024-01-01 08:04,Close,111,2,221,-1,-0.45,1,1,-2,-2,9,0.01
2,Entry short,2024-01-01 08:03,S,110.5,2,221,-1,-0.45,1,1,-2,-2,9,0.01`,
  'English, before 2024': `Trade #,Type,Signal,Date/Time,Price USDT,Contracts,Profit USDT,Profit %,Cum. Profit USDT,Cum. Profit %,Run-up USDT,Run-up %,Drawdown USDT,Drawdown %
1,Entry Long,L,2024-01-01 08:01,100,1,,,,,,,,
1,Exit Long,TP,2024-01-01 08:02,110,1,10,10,10,0.01,11,11,1,1
2,Entry Short,S,2024-01-01 08:03,110.5,2,,,,,,,,
2,Exit Short,Close,2024-01-01 08:04,111,2,-1,-0.45,9,0.01,1,1,2,2`,
  German: `Trade-Nr.;Typ;Datum und Uhrzeit;Signal;Preis USDT;Anzahl;Wert;Netto-G&V USDT;Netto-G&V %
1;Ausstieg Long;01.01.2024 08:02;TP;110,00;1;100;10,00;10
1;Einstieg Long;01.01.2024 08:01;L;100,00;1;100;10,00;10
2;Ausstieg Short;01.01.2024 08:04;Close;111,00;2;221;−1,00;−0,45
2;Einstieg Short;01.01.2024 08:03;S;110,50;2;221;−1,00;−0,45`,
  Russian: `Сделка №,Тип,Дата и время,Сигнал,Цена USDT,Количество,Стоимость,Прибыль USDT,Прибыль %
1,Выход из длинной позиции,2024-01-01 08:02,TP,110,1,100,10,10
1,Вход в длинную позицию,2024-01-01 08:01,L,100,1,100,10,10
2,Выход из короткой позиции,2024-01-01 08:04,Close,111,2,221,-1,-0.45
2,Вход в короткую позицию,2024-01-01 08:03,S,110.5,2,221,-1,-0.45`,
  'Russian, with losses in the name of the profit': `№ сделки,Тип,Дата и время,Сигнал,Цена USDT,Размер позиции (кол-во),Размер позиции (стоимость),Чистые ПР/УБ USDT,Чистые ПР/УБ %,Совокупные ПР/УБ USDT
1,Выход из длинной позиции,2024-01-01 08:02,TP,110,1,100,10,10,10
1,Вход в длинную позицию,2024-01-01 08:01,L,100,1,100,10,10,10
2,Выход из короткой позиции,2024-01-01 08:04,Close,111,2,221,-1,-0.45,9
2,Вход в короткую позицию,2024-01-01 08:03,S,110.5,2,221,-1,-0.45,9`,
  Swedish: `Affär #,Typ,Datum och tid,Signal,Pris USDT,Antal,Värde,Netto P&L USDT,Netto P&L %
1,Utgång lång,2024-01-01 08:02,TP,110,1,100,10,10
1,Ingång lång,2024-01-01 08:01,L,100,1,100,10,10
2,Utgång kort,2024-01-01 08:04,Close,111,2,221,-1,-0.45
2,Ingång kort,2024-01-01 08:03,S,110.5,2,221,-1,-0.45`,
  Arabic: `الصفقة #,النوع,التاريخ والوقت,الإشارة,السعر USDT,الكمية,القيمة,صافي USDT,صافي %
1,خروج شراء,2024-01-01 08:02,TP,110,1,100,10,10
1,دخول شراء,2024-01-01 08:01,L,100,1,100,10,10
2,خروج بيع,2024-01-01 08:04,Close,111,2,221,-1,-0.45
2,دخول بيع,2024-01-01 08:03,S,110.5,2,221,-1,-0.45`,
  Chinese: `交易 #,类型,日期和时间,信号,价格 USDT,数量,价值,净损益 USDT,净损益 %
1,多头出场,2024-01-01 08:02,TP,110,1,100,10,10
1,多头进场,2024-01-01 08:01,L,100,1,100,10,10
2,空头出场,2024-01-01 08:04,Close,111,2,221,-1,-0.45
2,空头进场,2024-01-01 08:03,S,110.5,2,221,-1,-0.45`,
  Japanese: `トレード番号,タイプ,日時,シグナル,価格 USDT,数量,価値,純損益 USDT,純損益 %
1,ロングのエグジット,2024/01/01 08:02,TP,110,1,100,10,10
1,ロングのエントリー,2024/01/01 08:01,L,100,1,100,10,10
2,ショートのエグジット,2024/01/01 08:04,Close,111,2,221,-1,-0.45
2,ショートのエントリー,2024/01/01 08:03,S,110.5,2,221,-1,-0.45`,
  'Spanish, twelve hours': `Operación #,Tipo,Señal,Fecha/Hora,Precio USDT,Contratos,Beneficio USDT,Beneficio %
1,Entrada en largo,L,"Jan 1, 2024, 8:01 AM",100,1,,
1,Salida en largo,TP,"Jan 1, 2024, 8:02 AM",110,1,10,10
2,Entrada en corto,S,"Jan 1, 2024, 8:03 AM",110.5,2,,
2,Salida en corto,Close,"Jan 1, 2024, 8:04 AM",111,2,-1,-0.45`,
  French: `Trade #,Type,Date et heure,Signal,Prix USDT,Taille (qté),Taille (valeur),P&L net USDT,P&L net %
1,Sortie longue,2024-01-01 08:02,TP,110,1,100,10,10
1,Entrée longue,2024-01-01 08:01,L,100,1,100,10,10
2,Sortie courte (short),2024-01-01 08:04,Close,111,2,221,-1,-0.45
2,Entrée courte (short),2024-01-01 08:03,S,110.5,2,221,-1,-0.45`,
}

const BARS = barsFrom('100/100/100/100 100/110/100/110 110/110/110/110 110.5/111/110/111 111/111/111/111')

function trade(
  n: number,
  side: 'long' | 'short',
  bars: [number, number],
  change: Partial<ReportTrade> = {},
): ReportTrade {
  const [entryBar, exitBar] = bars
  return {
    n,
    side,
    qty: side === 'long' ? 1 : 2,
    entryId: side === 'long' ? 'L' : 'S',
    entryTime: BARS.time[entryBar]!,
    entryBar,
    entryPrice: side === 'long' ? 100 : 110.5,
    entryComment: null,
    exitId: side === 'long' ? 'X' : 'Close',
    exitTime: BARS.time[exitBar]!,
    exitBar,
    exitPrice: side === 'long' ? 110 : 111,
    exitComment: side === 'long' ? 'TP' : null,
    profit: side === 'long' ? 10 : -1,
    profitPct: 0,
    commission: 0,
    runup: 0,
    runupPct: 0,
    drawdown: 0,
    drawdownPct: 0,
    bars: 2,
    cumProfit: 0,
    cumProfitPct: 0,
    status: 'closed',
    ...change,
  }
}

const OURS = [trade(1, 'long', [1, 2]), trade(2, 'short', [3, 4])]

describe('an export', () => {
  for (const [name, csv] of Object.entries(EXPORTS))
    test(`in ${name} is read, its clock found and its trades agree`, () => {
      const { trades, problems } = parseTradeList(csv)
      expect(problems).toEqual([])
      // 00:01 UTC was 08:01 on the chart's clock, eight hours ahead.
      const comparison = compareTrades(trades, OURS, BARS, { mintick: 0.01 })
      expect({ ...comparison, trades: [], timezone: '' }).toEqual({
        timezone: '',
        timezoneDetected: true,
        expected: 2,
        found: 2,
        exact: 2,
        unreadable: 0,
        firstDivergence: null,
        trades: [],
      })
      expect(['Asia/Singapore', 'Australia/Perth']).toContain(comparison.timezone)
    })

  test('of days alone has the clock of the exchange, whatever zone has midnight at the open of its sessions', () => {
    const day = (date: string) => Date.parse(`${date}T08:00Z`)
    const ours = trade(1, 'long', [1, 2], { entryTime: day('2024-01-02'), exitTime: day('2024-01-04') })
    const { trades } = parseTradeList(
      EXPORTS['English, 2025']!.replaceAll('2024-01-01 08:01', '2024-01-02').replaceAll(
        '2024-01-01 08:02',
        '2024-01-04',
      ),
    )
    const options = { mintick: 0.01, exchangeTimezone: 'Europe/Berlin' }
    expect(compareTrades(trades.slice(0, 1), [ours], BARS, options).timezone).toBe('Europe/Berlin')
  })

  const english = parseTradeList(EXPORTS['English, 2025']!).trades

  test('in Chartroom’s own form is read too', () => {
    const [minute, clock] = [60_000, Date.UTC(2024, 0, 1, 8)]
    const csv = `n,side,entry_time,entry_price,entry_signal,exit_time,exit_price,exit_signal,qty,profit,status
1,long,${clock},100.25,L,${clock + minute},110,TP,1,9.75,closed
2,short,${clock + minute},110,S,,,,2,0,open`
    const { trades, problems } = parseTradeList(csv)
    expect(trades).toEqual([
      {
        n: 1,
        side: 'long',
        entry: { wall: clock, dateOnly: false, price: 100.25, digits: 2, signal: 'L' },
        exit: { wall: clock + minute, dateOnly: false, price: 110, digits: 0, signal: 'TP' },
        qty: 1,
        profit: { value: 9.75, digits: 2 },
        open: false,
      },
      expect.objectContaining({ n: 2, side: 'short', open: true }),
    ])
    expect(problems).toEqual([])
  })

  test('names the first divergence with its bar, without the noise of its price', () => {
    const ours = [OURS[0]!, trade(2, 'short', [3, 4], { exitPrice: 110.90000000000002 })]
    const { exact, firstDivergence } = compareTrades(english, ours, BARS, {
      mintick: 0.01,
      timezone: 'UTC+8',
    })
    expect(exact).toBe(1)
    expect(firstDivergence).toEqual({
      n: 2,
      agrees: false,
      bar: 3,
      time: BARS.time[3]!,
      differences: [{ field: 'exitPrice', expected: 111, found: 110.9 }],
    })
  })

  test.each([
    ['10', 10.004, true],
    ['10.00', 10.006, false],
    ['0.0004', 0.000_43, true],
    ['0.0004', 0.000_47, false],
  ])('J8: a profit shown as %s agrees with %d: %p', (shown, profit, agrees) => {
    const csv = EXPORTS['English, 2025']!.replaceAll(',100,10,10', `,100,${shown},10`)
    const ours = [trade(1, 'long', [1, 2], { profit }), OURS[1]!]
    const { exact } = compareTrades(parseTradeList(csv).trades, ours, BARS, {
      mintick: 0.01,
      timezone: 'UTC+8',
    })
    expect(exact).toBe(agrees ? 2 : 1)
  })

  test('one trade too many is extra and puts no other in the wrong', () => {
    const ours = [trade(1, 'short', [0, 1]), trade(2, 'long', [1, 2]), trade(3, 'short', [3, 4])]
    const { exact, firstDivergence } = compareTrades(english, ours, BARS, {
      mintick: 0.01,
      timezone: 'UTC+8',
    })
    expect(exact).toBe(2)
    expect(firstDivergence).toMatchObject({ bar: 0, differences: [{ field: 'extra' }] })
  })

  test('of daily bars that lacks a trade puts no other in the wrong', () => {
    const daily = barsFrom(
      '100/100/100/100 100/110/100/110 110/110/110/110 110/110/110/110 110.5/111/110/111 111/111/111/111',
    )
    const at = (bar: number) => Date.UTC(2024, 0, 2 + bar, 14, 30)
    const times = (entry: number, exit: number) => ({ entryTime: at(entry), exitTime: at(exit) })
    const ours = [
      trade(1, 'long', [1, 2], times(1, 2)),
      trade(2, 'long', [2, 3], times(2, 3)),
      trade(3, 'short', [3, 4], times(3, 4)),
    ]
    const csv = EXPORTS['English, 2025']!.replaceAll(/08:0(\d)/g, '')
      .replace(/(\n1,Exit long),[^,]*/, '$1,2024-01-04')
      .replace(/(\n1,Entry long),[^,]*/, '$1,2024-01-03')
      .replace(/(\n2,Exit short),[^,]*/, '$1,2024-01-06')
      .replace(/(\n2,Entry short),[^,]*/, '$1,2024-01-05')
    const { trades } = parseTradeList(csv)
    expect(trades.map(({ entry }) => entry.dateOnly)).toEqual([true, true])
    const compared = compareTrades(trades, ours, daily, {
      mintick: 0.01,
      exchangeTimezone: 'America/New_York',
    })
    expect(compared).toMatchObject({ exact: 2, expected: 2, found: 3 })
    expect(compared.firstDivergence).toMatchObject({ n: 2, differences: [{ field: 'extra' }] })
  })

  test('a position still open is not compared', () => {
    const csv = `${EXPORTS['English, 2025']!}
3,Exit long,2024-01-01 08:04,Open,111,1,111,0,0,0,0,0,0,9,0
3,Entry long,2024-01-01 08:04,L,111,1,111,0,0,0,0,0,0,9,0`
    expect(parseTradeList(csv).trades.map((one) => one.open)).toEqual([false, false, true])
    expect(compareTrades(parseTradeList(csv).trades, OURS, BARS, { mintick: 0.01 }).expected).toBe(2)
  })

  test('that is no list of trades says what is wrong and throws nothing', () => {
    expect(parseTradeList('').problems[0]?.message).toBe('The file has no rows.')
    expect(parseTradeList('a,b\nc,d').problems[0]?.message).toContain('columns')
    const broken = EXPORTS['English, 2025']!.replace('\n1,Exit', '\nx,Exit')
    expect(parseTradeList(broken)).toMatchObject({
      problems: [
        { row: 2, message: 'The first column should be the number of a trade.' },
        { row: 3, message: 'Trade 1 has no row of its exit.' },
      ],
      lost: { rows: 2, trades: 1 },
    })
  })

  test('has rows that cannot be read: each is named, and their trades do not agree', () => {
    const nine = Array.from({ length: 9 }, (_, i) => trade(i + 1, 'long', [i % 4, (i % 4) + 1]))
    const list = (lines: (lines: string[]) => void) => {
      const all = tradeListCsv({ trades: nine, currency: 'USD', pointvalue: 1 }, { offsetAt: () => 0 }).split(
        '\n',
      )
      lines(all)
      return parseTradeList(all.join('\n'))
    }
    const { trades, problems, lost } = list((lines) => {
      lines[7] = lines[7]!.replace(',110,', ',abc,')
      lines[10] = lines[10]!.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, 'yesterday')
      lines.splice(13, 1)
    })
    expect(trades.map(({ n }) => n)).toEqual([1, 2, 3, 6, 8, 9])
    expect(problems).toEqual([
      { row: 8, message: 'Exit of trade 4: its price "abc" is no number.' },
      { row: 11, message: 'Entry of trade 5: "yesterday" is no date.' },
      { row: 14, message: 'Trade 7 has no row of its exit.' },
    ])
    expect(lost).toEqual({ rows: 3, trades: 3 })
    expect(
      compareTrades(trades, nine, BARS, { mintick: 0.01, timezone: 'UTC', lost: lost.trades }),
    ).toMatchObject({ exact: 6, expected: 9, found: 9, unreadable: 3 })

    // A trade of which neither row has a number is one trade.
    const unnumbered = list((lines) => {
      for (const at of [1, 2]) lines[at] = lines[at]!.replace(/^1,/, 'x,')
    })
    expect(unnumbered.lost).toEqual({ rows: 2, trades: 1 })
    // The last trade may be open without a row of its exit.
    const open = list((lines) => lines.splice(17, 1))
    expect([open.lost.trades, open.trades.at(-1)?.open]).toEqual([0, true])
  })
})

describe('cells', () => {
  const numbers: readonly (readonly [string, number, number])[] = [
    ['1,234.56', 1234.56, 2],
    ['1.234,5', 1234.5, 1],
    ['1 234,56', 1234.56, 2],
    ['−0,45', -0.45, 2],
    ['1,234,567', 1_234_567, 3],
    ['12.5 USD', 12.5, 1],
    ['0.0003', 0.0003, 4],
    ['7', 7, 0],
  ]
  for (const [text, value, digits] of numbers)
    test(`"${text}" is ${value}`, () => {
      expect(numberOf(text)).toBe(value)
      if (!/^\d,\d{3},/.test(text)) expect(digitsOf(text)).toBe(digits)
    })

  const times: readonly (readonly [string, string, boolean])[] = [
    ['2025-03-31 17:45', '2025-03-31T17:45', false],
    ['2025-03-31', '2025-03-31T00:00', true],
    ['31.03.2025 17:45', '2025-03-31T17:45', false],
    ['03/31/2025 5:45 PM', '2025-03-31T17:45', false],
    ['Mar 31, 2025, 17:45', '2025-03-31T17:45', false],
    ['2025年3月31日 17:45', '2025-03-31T17:45', false],
  ]
  for (const [text, wall, dateOnly] of times)
    test(`"${text}" is ${wall}`, () => {
      expect(wallOf(text)).toEqual({ wall: Date.parse(`${wall}Z`), dateOnly })
    })
})
