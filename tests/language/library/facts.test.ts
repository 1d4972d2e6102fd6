// What a script is told of its symbol, its chart and its bars, and what nobody here can tell it.

import { describe, expect, test } from 'bun:test'
import { answer, barsOfCloses, runScript, SYMBOL } from './script.ts'

const CLOSES = [10, 11, 12, 13, 14]

describe('the symbol', () => {
  const FUTURE = {
    ...SYMBOL,
    exchange: 'CME',
    symbol: 'ESZ2026',
    description: 'E-mini S&P 500',
    type: 'futures',
    currency: 'USD',
    baseCurrency: 'XYZ',
    mintick: 0.25,
    priceScale: 100,
    minMove: 25,
    pointValue: 50,
    minQuantity: 0.5,
    timezone: 'America/Chicago',
    session: '1700-1600',
    volumeType: 'tick',
  } as const
  test.each([
    ['syminfo.ticker', 'ESZ2026'],
    ['syminfo.tickerid', 'CME:ESZ2026'],
    ['syminfo.main_tickerid', 'CME:ESZ2026'],
    ['syminfo.prefix', 'CME'],
    ['syminfo.root', 'ES'],
    ['syminfo.description', 'E-mini S&P 500'],
    ['syminfo.type', 'futures'],
    ['syminfo.currency', 'USD'],
    ['syminfo.basecurrency', 'XYZ'],
    ['syminfo.mintick', '0.25'],
    ['syminfo.minmove', '25'],
    ['syminfo.pricescale', '100'],
    ['syminfo.minmove / syminfo.pricescale == syminfo.mintick', 'true'],
    ['syminfo.pointvalue', '50'],
    ['syminfo.mincontract', '0.5'],
    ['syminfo.timezone', 'America/Chicago'],
    ['syminfo.session', 'regular'],
    ['syminfo.session == session.regular', 'true'],
    ['syminfo.volumetype', 'tick'],
    ['syminfo.isin', ''],
  ])('%s', (name, expected) => {
    expect(answer(name, '', { symbol: FUTURE })).toBe(expected)
  })
  test('syminfo.main_tickerid is that of the chart inside request.security() too', () => {
    const setup = 's = request.security("NYSE:F", "60", syminfo.main_tickerid + " " + syminfo.tickerid)'
    expect(answer('s', setup, { series: () => barsOfCloses(CLOSES) })).toBe('NASDAQ:AAPL NYSE:F')
  })
})

describe('the chart', () => {
  test('is one of bars of time, and of no other kind', () => {
    expect(answer('chart.is_standard')).toBe('true')
    for (const kind of [
      'chart.is_heikinashi',
      'chart.is_kagi',
      'chart.is_linebreak',
      'chart.is_pnf',
      'chart.is_range',
      'chart.is_renko',
    ])
      expect([kind, answer(kind)]).toEqual([kind, 'false'])
  })
  test('shows all bars', () => {
    const start = Date.UTC(2024, 0, 8, 14, 30)
    const said = answer('chart.right_visible_bar_time - chart.left_visible_bar_time')
    expect(said).toBe(String(4 * 3_600_000))
    expect(answer('chart.left_visible_bar_time')).toBe(String(start))
  })
  test('is white, and what is written on it is dark', () => {
    const colors = (name: string) =>
      ['r', 'g', 'b', 't'].map((part) => Number(answer(`color.${part}(${name})`)))
    expect(colors('chart.bg_color')).toEqual([255, 255, 255, 0])
    // #131722, TradingView's foreground on a light chart.
    expect(colors('chart.fg_color')).toEqual([0x13, 0x17, 0x22, 0])
  })
})

describe('the timeframe', () => {
  const IS = {
    'timeframe.isseconds': 's',
    'timeframe.isminutes': 'mh',
    'timeframe.isintraday': 'smh',
    'timeframe.isdaily': 'd',
    'timeframe.isweekly': 'w',
    'timeframe.ismonthly': 'M',
    'timeframe.isdwm': 'dwM',
    'timeframe.isticks': '',
  }
  const INTERVALS = ['30s', '5m', '1h', '1d', '1w', '1M']
  test.each(Object.entries(IS))('%s', (name, units) => {
    const yes = INTERVALS.filter((interval) => answer(name, '', { interval }) === 'true')
    expect(yes).toEqual(INTERVALS.filter((interval) => units.includes(interval.at(-1) ?? '')))
  })
  test.each([
    ['30s', '30S', 30],
    ['5m', '5', 5],
    ['1h', '60', 60],
    ['4h', '240', 240],
    ['1d', '1D', 1],
    ['1w', '1W', 1],
    ['1M', '1M', 1],
  ])('%s is %s', (interval, period, multiplier) => {
    const said = answer('timeframe.period + " " + str.tostring(timeframe.multiplier)', '', { interval })
    expect(said).toBe(`${period} ${multiplier}`)
  })
})

describe('the bar', () => {
  test('hlcc4 counts the close twice', () => {
    const bars = barsOfCloses(CLOSES)
    bars.high[4] = 20
    bars.low[4] = 10
    bars.open[4] = 12
    // Open 12, high 20, low 10, close 14.
    expect(answer('hlcc4', '', { bars })).toBe('14.5')
    expect(answer('hl2', '', { bars })).toBe('15')
    expect(answer('math.round(hlc3, 6)', '', { bars })).toBe('14.666667')
    expect(answer('ohlc4', '', { bars })).toBe('14')
  })
  test('is seen once, closed, and the last of them is the last confirmed one of history', () => {
    const { plots } = runScript(
      [
        'barstate.isnew',
        'barstate.isconfirmed',
        'barstate.ishistory',
        'barstate.isrealtime',
        'barstate.isfirst',
        'barstate.islast',
        'barstate.islastconfirmedhistory',
      ]
        .map((name) => `plot(${name} ? 1 : 0, "${name}")`)
        .join('\n'),
    )
    expect(plots).toEqual({
      'barstate.isnew': [1, 1, 1, 1, 1],
      'barstate.isconfirmed': [1, 1, 1, 1, 1],
      'barstate.ishistory': [1, 1, 1, 1, 1],
      'barstate.isrealtime': [0, 0, 0, 0, 0],
      'barstate.isfirst': [1, 0, 0, 0, 0],
      'barstate.islast': [0, 0, 0, 0, 1],
      'barstate.islastconfirmedhistory': [0, 0, 0, 0, 1],
    })
  })
  test('max_bars_back() is accepted, and changes nothing: history is kept as far as it is asked for', () => {
    const { plots } = runScript('max_bars_back(close, 1)\nplot(close[3], "x")')
    expect(plots['x']).toEqual([NaN, NaN, NaN, 10, 11])
  })
})

describe('the session', () => {
  // Half an hour a bar from 8:30 to 17:00 in New York on two days; the session is 9:30 to 16:00.
  const times = [8, 9].flatMap((day) =>
    Array.from({ length: 17 }, (_, i) => Date.UTC(2024, 0, day, 13, 30) + i * 1_800_000),
  )
  const bars = barsOfCloses(times.map(() => 10))
  for (const [i, time] of times.entries()) bars.time[i] = time
  const clock = (name: string) => {
    const { plots } = runScript(`plot(${name} ? 1 : 0, "x")`, { bars, interval: '30m' })
    return (plots['x'] ?? []).flatMap((yes, i) =>
      yes === 1 ? [new Date((times[i] ?? 0) - 5 * 3_600_000).toISOString().slice(8, 16)] : [],
    )
  }
  test.each([
    ['session.ispremarket', ['08T08:30', '08T09:00', '09T08:30', '09T09:00']],
    ['session.ispostmarket', ['08T16:00', '08T16:30', '09T16:00', '09T16:30']],
    ['session.isfirstbar_regular', ['08T09:30', '09T09:30']],
    ['session.islastbar_regular', ['08T15:30', '09T15:30']],
  ])('%s', (name, expected) => {
    expect(clock(name)).toEqual(expected)
  })
  test('session.isfirstbar and session.islastbar of a chart of regular hours', () => {
    const regular = barsOfCloses(Array.from({ length: 14 }, () => 10))
    // 9:30 to 16:00 by the hour, the last bar half an hour long.
    for (let i = 0; i < 14; i++)
      regular.time[i] = Date.UTC(2024, 0, 8 + Math.floor(i / 7), 14, 30) + (i % 7) * 3_600_000
    const where = (name: string) => {
      const { plots } = runScript(`plot(${name} ? 1 : 0, "x")`, { bars: regular })
      return (plots['x'] ?? []).flatMap((yes, i) => (yes === 1 ? [i] : []))
    }
    expect(where('session.isfirstbar')).toEqual([0, 7])
    expect(where('session.islastbar')).toEqual([6, 13])
    expect(where('session.ismarket')).toHaveLength(14)
  })
})

describe('identifiers', () => {
  test.each([
    ['ticker.modify("NASDAQ:AAPL", session.extended)', 'extended'],
    ['ticker.modify("NASDAQ:AAPL", adjustment = adjustment.dividends)', 'dividends'],
    ['ticker.linebreak("NASDAQ:AAPL", 3)', 'linebreak'],
    ['ticker.pointfigure("NASDAQ:AAPL", "hl", "ATR", 14, 3)', 'pointfigure'],
  ])('%s keeps the symbol and says more of it', (expression, word) => {
    const id = answer(expression)
    expect(id).toContain(word)
    expect(answer(`syminfo.prefix(${expression}) + " " + syminfo.ticker(${expression})`)).toBe('NASDAQ AAPL')
    expect(answer(`ticker.standard(${expression})`)).toBe('NASDAQ:AAPL')
  })
})

describe('what nobody here knows is na', () => {
  test.each([
    'bid',
    'ask',
    'dividends.future_amount',
    'dividends.future_ex_date',
    'dividends.future_pay_date',
    'earnings.future_eps',
    'earnings.future_period_end_time',
    'earnings.future_revenue',
    'earnings.future_time',
    'syminfo.country',
    'syminfo.current_contract',
    'syminfo.industry',
    'syminfo.sector',
    'syminfo.employees',
    'syminfo.expiration_date',
    'syminfo.shareholders',
    'syminfo.shares_outstanding_total',
    'syminfo.shares_outstanding_float',
    'syminfo.recommendations_buy',
    'syminfo.recommendations_buy_strong',
    'syminfo.recommendations_date',
    'syminfo.recommendations_hold',
    'syminfo.recommendations_sell',
    'syminfo.recommendations_sell_strong',
    'syminfo.recommendations_total',
    'syminfo.target_price_average',
    'syminfo.target_price_date',
    'syminfo.target_price_estimates',
    'syminfo.target_price_high',
    'syminfo.target_price_low',
    'syminfo.target_price_median',
    'request.dividends("NASDAQ:AAPL", dividends.net)',
    'request.splits("NASDAQ:AAPL", splits.numerator)',
    'request.earnings("NASDAQ:AAPL", earnings.standardized)',
    'request.economic("US", "GDP")',
    'request.financial("NASDAQ:AAPL", "TOTAL_REVENUE", "FQ")',
    'request.quandl("CHRIS/CME_ES1")',
    'request.seed("seed_crypto_santiment", "BTC", close)',
    'request.footprint(100)',
  ])('%s', (name) => {
    expect(answer(`na(${name})`)).toBe('true')
  })

  // A script that handles the absence of a footprint runs, and so does one that does not.
  test.each([
    'footprint.buy_volume(f)',
    'footprint.sell_volume(f)',
    'footprint.total_volume(f)',
    'footprint.delta(f)',
    'footprint.poc(f)',
    'footprint.vah(f)',
    'footprint.val(f)',
    'footprint.rows(f)',
    'footprint.get_row_by_price(f, close)',
    'volume_row.up_price(r)',
    'volume_row.down_price(r)',
    'volume_row.buy_volume(r)',
    'volume_row.sell_volume(r)',
    'volume_row.total_volume(r)',
    'volume_row.delta(r)',
  ])('%s', (expression) => {
    const setup = 'f = request.footprint(100)\nr = footprint.poc(f)'
    expect(answer(`na(${expression})`, setup)).toBe('true')
  })
  test.each(['volume_row.has_buy_imbalance(r)', 'volume_row.has_sell_imbalance(r)'])(
    '%s is false',
    (name) => {
      expect(answer(name, 'f = request.footprint(100)\nr = footprint.poc(f)')).toBe('false')
    },
  )
  test('and the run says so', () => {
    const { warnings } = runScript('plot(syminfo.target_price_high)\nplot(request.economic("US", "GDP"))')
    expect(warnings.join('\n')).toMatch(/target_price_high/)
    expect(warnings.join('\n')).toMatch(/request\.economic/)
  })
})
