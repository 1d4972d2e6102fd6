// How each exchange writes what happens on its market, after its documentation: field names, orders of columns, what it
// answers to a request, and its refusals.

import { type Dialect, MINUTE, price, size, type VenueBar } from './fake-venue.ts'

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (text: string): Fields => JSON.parse(text) as Fields
const none = () => []
const within = (bars: readonly VenueBar[], from: number, to: number) =>
  bars.filter(({ time }) => time >= from && time <= to)
const text = (value: unknown) => JSON.stringify(value)
const columns = ({ time, open, high, low, close, volume }: VenueBar) => [
  String(time),
  price(open),
  price(high),
  price(low),
  price(close),
  size(volume),
]

export const binanceDialect: Dialect = {
  tellsSides: true,
  everyMinute: true,
  isSubscription: (said) => fieldsOf(said)['method'] === 'SUBSCRIBE',
  answers(said) {
    const { method, params, id } = fieldsOf(said)
    if (method === 'LIST_SUBSCRIPTIONS') return [text({ result: ['btcusdt@kline_1m'], id })]
    if (!Array.isArray(params) || params.length > 1024)
      return [text({ error: { code: 2, msg: 'Invalid request: too many parameters' }, id })]
    return [text({ result: null, id })]
  },
  bar: ({ time, open, high, low, close, volume, trades, bought }, closed, now) => [
    text({
      e: 'kline',
      E: now,
      s: 'BTCUSDT',
      k: {
        t: time,
        T: time + MINUTE - 1,
        s: 'BTCUSDT',
        i: '1m',
        f: 100,
        L: 200,
        o: price(open),
        c: price(close),
        h: price(high),
        l: price(low),
        v: size(volume),
        n: trades,
        x: closed,
        q: '1.0000',
        V: size(bought),
        Q: '0.500',
        B: '123456',
      },
    }),
  ],
  trade: none,
  heartbeat: none,
  page(bars, { searchParams }) {
    const found = within(bars, Number(searchParams.get('startTime')), Number(searchParams.get('endTime')))
    const rows = found.slice(0, Number(searchParams.get('limit')))
    return Response.json(
      rows.map((bar) => {
        const [, ...rest] = columns(bar)
        return [bar.time, ...rest, bar.time + MINUTE - 1, '1', bar.trades, size(bar.bought), '0', '0']
      }),
    )
  },
}

export const bybitDialect: Dialect = {
  everyMinute: true,
  isSubscription: (said) => fieldsOf(said)['op'] === 'subscribe',
  answers(said) {
    const { op, args, req_id } = fieldsOf(said)
    if (op === 'ping') return [text({ success: true, ret_msg: 'pong', conn_id: 'c', req_id, op: 'ping' })]
    const isTooLong = Array.isArray(args) && args.length > 10
    const ret_msg = isTooLong ? 'args size >10' : 'subscribe'
    return [text({ success: !isTooLong, ret_msg, conn_id: 'c', req_id, op })]
  },
  bar: ({ time, open, high, low, close, volume }, confirm, now) => [
    text({
      topic: 'kline.1.BTCUSDT',
      data: [
        {
          start: time,
          end: time + MINUTE - 1,
          interval: '1',
          open: price(open),
          close: price(close),
          high: price(high),
          low: price(low),
          volume: size(volume),
          turnover: '34666.4005',
          confirm,
          timestamp: now,
        },
      ],
      ts: now,
      type: 'snapshot',
    }),
  ],
  trade: none,
  heartbeat: none,
  page(bars, { searchParams }, _, now) {
    const found = within(bars, Number(searchParams.get('start')), Number(searchParams.get('end')))
    const list = found
      .reverse()
      .slice(0, Number(searchParams.get('limit')))
      .map((bar) => [...columns(bar), '0'])
    return Response.json({
      retCode: 0,
      retMsg: 'OK',
      result: { symbol: 'BTCUSDT', category: 'spot', list },
      retExtInfo: {},
      time: now,
    })
  },
}

export const okxDialect: Dialect = {
  everyMinute: true,
  isSubscription: (said) => said.includes('"subscribe"'),
  answers(said) {
    if (said === 'ping') return ['pong']
    const { args, op } = fieldsOf(said) as { args: Fields[]; op: string }
    return args.map((arg) => text({ event: op, arg, connId: 'a4d3ae55' }))
  },
  bar: (bar, closed) => [
    text({
      arg: { channel: 'candle1m', instId: 'BTC-USDT' },
      data: [[...columns(bar), '529.5858061', '5529.5858061', closed ? '1' : '0']],
    }),
  ],
  trade: none,
  heartbeat: none,
  page(bars, { searchParams }, _, now) {
    const [after, before] = [Number(searchParams.get('after')), Number(searchParams.get('before'))]
    const data = bars
      .filter(({ time }) => time < after && time > before)
      .reverse()
      .slice(0, Number(searchParams.get('limit')))
      .map((bar) => [...columns(bar), '0', '0', bar.time + MINUTE <= now ? '1' : '0'])
    return Response.json({ code: '0', msg: '', data })
  },
}

export const krakenDialect: Dialect = {
  everyMinute: false,
  isSubscription: (said) => fieldsOf(said)['method'] === 'subscribe',
  answers(said, now) {
    const { method, params, req_id } = fieldsOf(said)
    const times = { time_in: new Date(now).toISOString(), time_out: new Date(now).toISOString() }
    if (method === 'ping') return [text({ method: 'pong', req_id, ...times })]
    const { symbol } = params as { symbol: string[] }
    return symbol.map((one) =>
      text({
        method,
        result: { channel: 'ohlc', interval: 1, snapshot: false, symbol: one, warnings: [] },
        success: true,
        ...times,
        req_id,
      }),
    )
  },
  // It does not say that a bar is over, but for corrections of one.
  bar: ({ time, open, high, low, close, volume, trades }, closed, now) =>
    closed && now - time === MINUTE
      ? []
      : [
          text({
            channel: 'ohlc',
            type: 'update',
            timestamp: new Date(now).toISOString().replace('Z', '524394Z'),
            data: [
              {
                symbol: 'BTC/USD',
                open: Number(price(open)),
                high: Number(price(high)),
                low: Number(price(low)),
                close: Number(price(close)),
                trades,
                volume: Number(size(volume)),
                vwap: 0.5626,
                interval_begin: new Date(time).toISOString().replace('Z', '000000Z'),
                interval: 1,
                timestamp: new Date(time + MINUTE).toISOString(),
              },
            ],
          }),
        ],
  trade: none,
  heartbeat: () => [text({ channel: 'heartbeat' })],
  page(bars, { searchParams }) {
    const since = Number(searchParams.get('since')) * 1000
    const list = bars
      .filter(({ time }) => time > since)
      .slice(-720)
      .map((bar) => {
        const [, open, high, low, close, volume] = columns(bar)
        return [bar.time / 1000, open, high, low, close, '1.0', volume, bar.trades]
      })
    return Response.json({ error: [], result: { XXBTZUSD: list, last: 1 } })
  },
}

export const hyperliquidDialect: Dialect = {
  everyMinute: false,
  isSubscription: (said) => fieldsOf(said)['method'] === 'subscribe',
  answers(said) {
    const { method, subscription } = fieldsOf(said)
    if (method === 'ping') return [text({ channel: 'pong' })]
    return [text({ channel: 'subscriptionResponse', data: { method, subscription } })]
  },
  bar: (bar, closed, now) =>
    closed && now - bar.time === MINUTE ? [] : [text({ channel: 'candle', data: candle(bar) })],
  trade: none,
  heartbeat: none,
  page(bars, _, body = '{}') {
    const { req } = fieldsOf(body) as { req: { startTime: number; endTime: number } }
    return Response.json(within(bars, req.startTime, req.endTime).slice(-5000).map(candle))
  },
}

function candle({ time, open, high, low, close, volume, trades }: VenueBar): Fields {
  return {
    t: time,
    T: time + MINUTE - 1,
    s: 'BTC',
    i: '1m',
    o: price(open),
    c: price(close),
    h: price(high),
    l: price(low),
    v: size(volume),
    n: trades,
  }
}

export const coinbaseDialect: Dialect = {
  everyMinute: false,
  isSubscription: (said) => fieldsOf(said)['type'] === 'subscribe',
  answers(said) {
    const { product_ids } = fieldsOf(said)
    const channels = [
      { name: 'matches', product_ids },
      { name: 'heartbeat', product_ids },
    ]
    return [text({ type: 'subscriptions', channels })]
  },
  bar: none,
  trade: ({ id, time, price: at, size: amount }) => [
    text({
      type: 'match',
      trade_id: id,
      sequence: id + 40,
      maker_order_id: 'ac928c66-ca53-498f-9c13-a110027a60e8',
      taker_order_id: '132fb6ae-456b-4654-b4e0-d681ac05cea1',
      time: new Date(time).toISOString().replace('Z', '459Z'),
      product_id: 'BTC-USD',
      size: size(amount),
      price: price(at),
      side: 'sell',
    }),
  ],
  heartbeat: (lastId, now) => [
    text({
      type: 'heartbeat',
      last_trade_id: lastId,
      product_id: 'BTC-USD',
      sequence: lastId + 40,
      time: new Date(now).toISOString(),
    }),
  ],
  page(bars, { searchParams }) {
    const [from, to] = [searchParams.get('start'), searchParams.get('end')].map((at) => Date.parse(at ?? ''))
    const rows = within(bars, from ?? 0, to ?? 0).map((bar) => {
      const [, open, high, low, close, volume] = columns(bar).map(Number)
      return [bar.time / 1000, low, high, open, close, volume]
    })
    return Response.json(rows.reverse().slice(0, 300))
  },
}
