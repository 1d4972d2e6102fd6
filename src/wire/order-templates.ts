// The messages by which services take orders: what each is documented to look like, in one table. It is plain data, which the
// dashboard shows and the server checks bodies by before it keeps them.
//
// Of TradersPost, 3Commas, PickMyTrade and Alpaca the shapes are those of their own pages, as they stood in November 2026:
// docs.traderspost.io (JSON Message Reference), help.3commas.io (Signal bot: JSON file for Strategy type),
// docs.pickmytrade.trade (TradingView JSON alert configuration), docs.alpaca.markets (Working with /orders).

import { words } from '../lib/words.ts'

export const TEMPLATE_NAMES = ['traderspost', '3commas', 'pickmytrade', 'alpaca', 'generic'] as const
export type TemplateName = (typeof TEMPLATE_NAMES)[number]

/** What a field of the body takes: a text, a number, a number that may also stand in quotes, or one of these words. */
type FieldForm = 'text' | 'number' | 'amount' | readonly string[]

export interface OrderTemplate {
  readonly label: string
  /** The address, if it is the same for everybody. */
  readonly url?: string
  readonly urlHint: string
  /** What `{{secret}}` and `{{account}}` stand for there; missing = it has none. */
  readonly secret?: string
  readonly account?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whether it takes an order that comes twice with one key only once. */
  readonly honoursKeys: boolean
  /** A refusal that says that it has the order of this key already. */
  readonly takenAlready?: RegExp
  readonly fields: Readonly<Record<string, FieldForm>>
  readonly required: readonly string[]
  readonly body: string
}

const SIDES = ['buy', 'sell'] as const

export const ORDER_TEMPLATES: Readonly<Record<TemplateName, OrderTemplate>> = {
  traderspost: {
    label: 'TradersPost',
    urlHint: 'The webhook address of your strategy there. Its last part is a password.',
    honoursKeys: false,
    fields: {
      ticker: 'text',
      action: ['buy', 'sell', 'exit', 'cancel', 'add'],
      sentiment: ['bullish', 'long', 'bearish', 'short', 'flat'],
      quantity: 'amount',
      orderType: ['market', 'limit', 'stop', 'stop_limit', 'trailing_stop'],
      signalPrice: 'amount',
      limitPrice: 'amount',
      stopPrice: 'amount',
    },
    required: ['ticker', 'action'],
    body: `{
  "ticker": "{{ticker}}",
  "action": "{{strategy.order.action}}",
  "sentiment": "{{strategy.market_position}}",
  "quantity": {{strategy.order.contracts}},
  "time": "{{timenow}}",
  "interval": "{{interval}}",
  "extras": { "key": "{{key}}" }
}`,
  },
  '3commas': {
    label: '3Commas',
    url: 'https://api.3commas.io/signal_bots/webhooks',
    urlHint: 'The webhook address of your signal bot.',
    secret: 'The secret in the message that 3Commas made for the bot',
    account: 'bot_uuid in that message',
    honoursKeys: false,
    fields: {
      secret: 'text',
      bot_uuid: 'text',
      max_lag: 'amount',
      timestamp: 'text',
      trigger_price: 'amount',
      tv_exchange: 'text',
      tv_instrument: 'text',
      action: SIDES,
    },
    required: ['secret', 'bot_uuid', 'tv_exchange', 'tv_instrument', 'action'],
    // It reads no fields but its own, so the key goes in the header alone.
    body: `{
  "secret": "{{secret}}",
  "max_lag": "300",
  "timestamp": "{{timenow}}",
  "trigger_price": "{{close}}",
  "tv_exchange": "{{exchange}}",
  "tv_instrument": "{{ticker}}",
  "action": "{{strategy.order.action}}",
  "bot_uuid": "{{account}}",
  "strategy_info": {
    "market_position": "{{strategy.market_position}}",
    "market_position_size": "{{strategy.market_position_size}}",
    "prev_market_position": "{{strategy.prev_market_position}}",
    "prev_market_position_size": "{{strategy.prev_market_position_size}}"
  },
  "order": { "amount": "{{strategy.order.contracts}}", "currency_type": "base" }
}`,
  },
  pickmytrade: {
    label: 'PickMyTrade',
    urlHint: 'The webhook address that Generate Alert shows there.',
    secret: 'The token in the message that Generate Alert shows',
    account: 'account_id in that message',
    honoursKeys: false,
    fields: {
      symbol: 'text',
      date: 'text',
      data: ['buy', 'sell', 'close'],
      quantity: 'amount',
      risk_percentage: 'amount',
      price: 'amount',
      token: 'text',
    },
    required: ['symbol', 'date', 'data', 'quantity', 'token'],
    body: `{
  "symbol": "{{ticker}}",
  "date": "{{timenow}}",
  "data": "{{strategy.order.action}}",
  "quantity": {{strategy.order.contracts}},
  "risk_percentage": 0,
  "price": "{{close}}",
  "tp": 0,
  "sl": 0,
  "update_tp": false,
  "update_sl": false,
  "token": "{{secret}}",
  "pyramid": true,
  "reverse_order_close": false,
  "multiple_accounts": [
    { "token": "{{secret}}", "account_id": "{{account}}", "risk_percentage": 0, "quantity_multiplier": 1 }
  ]
}`,
  },
  alpaca: {
    label: 'Alpaca',
    url: 'https://paper-api.alpaca.markets/v2/orders',
    urlHint: 'That of paper trading, until you write https://api.alpaca.markets/v2/orders.',
    secret: 'The secret key',
    account: 'The key id',
    headers: { 'apca-api-key-id': '{{account}}', 'apca-api-secret-key': '{{secret}}' },
    honoursKeys: true,
    takenAlready: /client_order_id must be unique/i,
    fields: {
      symbol: 'text',
      qty: 'amount',
      notional: 'amount',
      side: SIDES,
      type: ['market', 'limit', 'stop', 'stop_limit', 'trailing_stop'],
      time_in_force: ['day', 'gtc', 'opg', 'cls', 'ioc', 'fok'],
      limit_price: 'amount',
      stop_price: 'amount',
      client_order_id: 'text',
    },
    required: ['symbol', 'side', 'type', 'time_in_force', 'client_order_id'],
    body: `{
  "symbol": "{{ticker}}",
  "qty": "{{strategy.order.contracts}}",
  "side": "{{strategy.order.action}}",
  "type": "market",
  "time_in_force": "day",
  "client_order_id": "{{key}}"
}`,
  },
  generic: {
    label: 'Any other',
    urlHint: 'Any address that takes a POST.',
    secret: 'Sent as Authorization: Bearer, if there is one',
    honoursKeys: false,
    fields: {},
    required: [],
    body: `{
  "key": "{{key}}",
  "symbol": "{{exchange}}:{{ticker}}",
  "action": "{{strategy.order.action}}",
  "quantity": {{strategy.order.contracts}},
  "position": {{strategy.position_size}},
  "order": "{{strategy.order.id}}",
  "comment": "{{strategy.order.comment}}",
  "time": "{{time}}"
}`,
  },
}

/** Values that stand bare, or in quotes. */
export const NUMBER_PLACEHOLDERS = [
  'close',
  'strategy.order.contracts',
  'strategy.order.price',
  'strategy.market_position_size',
  'strategy.prev_market_position_size',
  'strategy.position_size',
] as const

/** Values that stand in quotes. */
export const TEXT_PLACEHOLDERS = words(
  'ticker exchange interval time timenow strategy.order.action strategy.order.id',
  'strategy.order.comment strategy.order.alert_message strategy.market_position',
  'strategy.prev_market_position key name account secret',
)
