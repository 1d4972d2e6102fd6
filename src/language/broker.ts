// The broker as a script sees it: `pine` declares this port, `broker/` implements it, and neither knows more of
// the other. Numbers: NaN = not given. Strings and switches: null = not given.

export type OcaType = 'none' | 'cancel' | 'reduce'

/** A trade as strategy.opentrades.* and strategy.closedtrades.* read it. Prices in symbol currency, money in account currency. */
export interface TradeView {
  readonly entryId: string
  readonly entryComment: string | null
  readonly entryBar: number
  readonly entryTime: number
  readonly entryPrice: number
  /** Only of a closed trade; so are the four below. */
  readonly exitId: string
  readonly exitComment: string | null
  readonly exitBar: number
  readonly exitTime: number
  readonly exitPrice: number
  /** Signed: negative = short. */
  readonly size: number
  readonly profit: number
  readonly profitPercent: number
  /** Of what it was entered for, the fee of the entry too. */
  readonly profitPercentOfCost: number
  readonly commission: number
  readonly maxRunup: number
  readonly maxRunupPercent: number
  readonly maxDrawdown: number
  readonly maxDrawdownPercent: number
}

export interface Broker {
  /** What it keeps, about: fills, trades and orders. */
  readonly bytes: number
  /** Something to do on a bar: an order waits, or a rule must be watched. */
  readonly busy: boolean
  /** Prices at or beyond which there is something to do too: they call the position, or reach what waits. Infinite where none does. */
  readonly callBelow: number
  readonly callAbove: number
  /** The script placed or changed something since `afterScript` ran last. */
  readonly dirty: boolean
  /** What a script reads of it. */
  readonly account: BrokerAccount
  /** What a script tells it. */
  readonly desk: BrokerDesk
  /**
   * Bar `bar` has come: fills what fills, in path order, before the script runs. It need not be called when the broker is not
   * `busy` and no price calls. With calc_on_order_fills it calls `rerun` after fills, which runs the script's body once more on
   * this bar. With calc_on_every_history_tick it calls `rerun` on each tick but the last, and has to be called on every bar.
   */
  onBar(bar: number, rerun: () => void): void
  /** After the script's body on `bar`: process_orders_on_close, immediate closes. Need not be called when not `dirty`. */
  afterScript(bar: number): void
}

/** Each call of the script writes its next request into the same object, so the broker copies what it keeps. */
export interface BrokerDesk {
  /** strategy.entry and strategy.order. */
  place(kind: 'entry' | 'order', request: OrderRequest): void
  exit(request: ExitRequest): void
  close(request: CloseRequest): void
  closeAll(request: CloseAllRequest): void
  cancel(id: string): void
  cancelAll(): void

  // strategy.risk.*
  allowEntryIn(direction: 'all' | 'long' | 'short'): void
  maxConsLossDays(count: number, alertMessage: string | null): void
  maxDrawdown(value: number, type: 'percent_of_equity' | 'cash', alertMessage: string | null): void
  maxIntradayLoss(value: number, type: 'percent_of_equity' | 'cash', alertMessage: string | null): void
  maxIntradayFilledOrders(count: number, alertMessage: string | null): void
  maxPositionSize(contracts: number): void
}

export interface BrokerAccount {
  /**
   * The bar the script runs on. The run writes it before the body, whether `onBar` was called or not: commands and the
   * values below read the close of this bar.
   */
  bar: number

  // strategy.* as they stand now, at this bar's close unless said otherwise. Money in account currency.
  readonly positionSize: number
  readonly positionAvgPrice: number
  readonly positionEntryName: string | null
  readonly initialCapital: number
  readonly equity: number
  /** Before commission: what open trades have paid so far counts as lost (F14). */
  readonly openProfit: number
  readonly netProfit: number
  readonly grossProfit: number
  /** Positive. */
  readonly grossLoss: number
  /** Of closed trades alone. */
  readonly closedProfit: number
  readonly closedLoss: number
  readonly maxRunupAmount: number
  readonly maxDrawdownAmount: number
  readonly maxRunupPercent: number
  readonly maxDrawdownPercent: number
  readonly maxContractsHeldAll: number
  readonly maxContractsHeldLong: number
  readonly maxContractsHeldShort: number
  readonly winTrades: number
  readonly lossTrades: number
  readonly evenTrades: number
  readonly openTradeCount: number
  readonly closedTradeCount: number
  /** Index of the first closed trade that is kept (orders over 9,000 are trimmed in v6): 0 here. */
  readonly closedTradesFirstIndex: number
  readonly capitalHeld: number
  readonly marginLiquidationPrice: number
  readonly accountCurrency: string
  /** By number, the oldest first; null when there is none. Good until the next one is asked for. */
  openTrade(index: number): TradeView | null
  closedTrade(index: number): TradeView | null
  convertToAccount(value: number): number
  convertToSymbol(value: number): number
  /** Default order size at a price (strategy.default_entry_qty). */
  defaultEntryQty(price: number): number
}

// Requests have the arguments of Pine's commands, as the script gave them. `site` tells call sites apart (rules D3, D11), and
// `given` says by the places of the parameters which of them the call names: what it does not name need not be read, and
// what it names may be NaN.

/** Levels in price. */
export interface OrderRequest {
  readonly id: string | null
  readonly direction: 'long' | 'short'
  readonly qty: number
  readonly limit: number
  readonly stop: number
  readonly ocaName: string | null
  readonly ocaType: OcaType | null
  readonly comment: string | null
  readonly alertMessage: string | null
  readonly disableAlert: boolean | null
  /** Bits of `ORDER_GIVEN`. */
  readonly given: number
  readonly site: number
}

export const ORDER_GIVEN = { qty: 1 << 2, limit: 1 << 3, stop: 1 << 4 } as const

/** Levels in price, `profit`/`loss`/`trailPoints`/`trailOffset` in ticks. */
export interface ExitRequest {
  readonly id: string | null
  readonly fromEntry: string | null
  readonly qty: number
  readonly qtyPercent: number
  readonly profit: number
  readonly limit: number
  readonly loss: number
  readonly stop: number
  readonly trailPrice: number
  readonly trailPoints: number
  readonly trailOffset: number
  readonly ocaName: string | null
  readonly comment: string | null
  readonly commentProfit: string | null
  readonly commentLoss: string | null
  readonly commentTrailing: string | null
  readonly alertMessage: string | null
  readonly alertProfit: string | null
  readonly alertLoss: string | null
  readonly alertTrailing: string | null
  readonly disableAlert: boolean | null
  /** Bits of `EXIT_GIVEN`. */
  readonly given: number
  readonly site: number
}

export const EXIT_GIVEN = {
  qty: 1 << 2,
  qtyPercent: 1 << 3,
  profit: 1 << 4,
  limit: 1 << 5,
  loss: 1 << 6,
  stop: 1 << 7,
  trailPrice: 1 << 8,
  trailPoints: 1 << 9,
  trailOffset: 1 << 10,
} as const

export interface CloseAllRequest {
  readonly comment: string | null
  readonly alertMessage: string | null
  readonly immediately: boolean | null
  readonly disableAlert: boolean | null
  readonly site: number
}

export interface CloseRequest extends CloseAllRequest {
  readonly id: string | null
  readonly qty: number
  readonly qtyPercent: number
}
