// The words of TradingView's exports, a row a language: headings of the list of trades, what its rows are, sheets, rows of the
// properties, rows of the performance sheets. A new language is one more row.
//
// A word stands here as exports spell it, in all spellings seen so far, without currency or per cent. Languages mix within
// a file ("Trade number" above "Señal"), so a word is looked up in all of them. What is not here is not understood: it is
// named to the user, and nothing is guessed from its place.

/** Columns of the list of trades. `returns` is a share that has no amount beside it. */
export type Column =
  | 'number'
  | 'type'
  | 'date'
  | 'signal'
  | 'price'
  | 'quantity'
  | 'value'
  | 'profit'
  | 'returns'
  | 'commission'
  | 'favorable'
  | 'adverse'
  | 'cumulative'
  | 'bars'
export type RowType = 'entryLong' | 'exitLong' | 'entryShort' | 'exitShort'
export type SheetKind = 'figures' | 'trades' | 'properties' | 'other'
/** Rows of the properties that are no inputs; those of `strategy()` by its arguments. */
export type Property =
  | 'heading'
  | 'section'
  | 'tradingRange'
  | 'dataRange'
  | 'symbol'
  | 'interval'
  | 'fact'
  | 'mintick'
  | 'pointvalue'
  | 'initial_capital'
  | 'currency'
  | 'orderSize'
  | 'pyramiding'
  | 'commission'
  | 'backtest_fill_limits_assumption'
  | 'slippage'
  | 'margin_long'
  | 'margin_short'
  | 'leverageLong'
  | 'leverageShort'
  | 'flags'
  | 'calc_on_order_fills'
  | 'calc_on_every_tick'
  | 'process_orders_on_close'
  | 'use_bar_magnifier'
  | 'fill_orders_on_standard_ohlc'

type Spellings<Key extends string> = Readonly<Partial<Record<Key, readonly string[]>>>
interface Language {
  readonly columns: Spellings<Column>
  readonly rows: Spellings<RowType>
  /** The signal of the exit row of a trade that is still open. */
  readonly open: readonly string[]
  readonly sheets?: Spellings<SheetKind>
  readonly properties?: Spellings<Property>
  readonly figures?: Spellings<string>
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  en: {
    columns: {
      number: ['trade number', 'trade #', 'trade no.', '#'],
      type: ['type'],
      date: ['date and time', 'date/time', 'date'],
      signal: ['signal'],
      price: ['price'],
      quantity: ['size (qty)', 'position size (qty)', 'quantity', 'qty', 'contracts'],
      value: ['size (value)', 'position size (value)', 'position value'],
      profit: ['net pnl', 'net p&l', 'net profit', 'profit', 'p&l'],
      returns: ['return'],
      commission: ['commission'],
      favorable: ['favorable excursion', 'run-up'],
      adverse: ['adverse excursion', 'drawdown'],
      cumulative: ['cumulative pnl', 'cumulative p&l', 'cum. profit', 'cumulative profit'],
      bars: ['duration (bars)'],
    },
    rows: {
      entryLong: ['entry long'],
      exitLong: ['exit long'],
      entryShort: ['entry short'],
      exitShort: ['exit short'],
    },
    open: ['open'],
    sheets: {
      figures: [
        'overview',
        'performance',
        'performance summary',
        'trades analysis',
        'risk performance ratios',
        'risk/performance ratios',
        'risk-adjusted performance',
      ],
      trades: ['list of trades', 'trades'],
      properties: ['properties'],
      other: ['orders', 'list of orders'],
    },
    properties: {
      heading: ['name'],
      section: [
        'date range',
        'symbol info',
        'strategy inputs',
        'strategy properties',
        'inputs',
        'properties',
      ],
      tradingRange: ['trading range'],
      dataRange: ['backtesting range'],
      symbol: ['symbol'],
      interval: ['timeframe'],
      fact: ['chart type', 'currency', 'precision'],
      mintick: ['tick size'],
      pointvalue: ['point value'],
      initial_capital: ['initial capital'],
      currency: ['account currency', 'base currency'],
      orderSize: ['order size', 'default order size'],
      pyramiding: ['pyramiding'],
      commission: ['commission'],
      backtest_fill_limits_assumption: ['verify price for limit orders'],
      slippage: ['slippage'],
      margin_long: ['margin for long positions'],
      margin_short: ['margin for short positions'],
      leverageLong: ['long leverage'],
      leverageShort: ['short leverage'],
      flags: ['recalculate', 'fill orders'],
      calc_on_order_fills: ['recalculate after order is filled', 'after order is filled'],
      calc_on_every_tick: ['recalculate on every tick', 'on every tick'],
      process_orders_on_close: ['recalculate on bar close', 'on bar close'],
      use_bar_magnifier: ['backtesting precision. use bar magnifier', 'using bar magnifier'],
      fill_orders_on_standard_ohlc: ['using standard ohlc'],
    },
    figures: {
      initialCapital: ['initial capital'],
      openProfit: ['open pnl', 'open p&l', 'open pl', 'open profit'],
      netProfit: ['net profit', 'net pnl', 'net p&l'],
      grossProfit: ['gross profit'],
      grossLoss: ['gross loss'],
      profitFactor: ['profit factor'],
      commissionPaid: ['commission paid'],
      expectancy: ['expected payoff'],
      buyHold: ['buy & hold return'],
      maxContractsHeld: ['max contracts held'],
      cagr: ['annualized return (cagr)'],
      maxRunupClose: ['max equity run-up (close-to-close)'],
      maxRunup: ['max equity run-up', 'max equity run-up (intrabar)'],
      maxDrawdownClose: ['max equity drawdown (close-to-close)'],
      maxDrawdown: ['max equity drawdown', 'max equity drawdown (intrabar)', 'max drawdown'],
      trades: ['total trades', 'total closed trades'],
      openTrades: ['total open trades'],
      winningTrades: ['winning trades', 'number winning trades'],
      losingTrades: ['losing trades', 'number losing trades'],
      winRate: ['percent profitable'],
      averageTrade: ['avg pnl', 'avg p&l', 'avg trade'],
      averageWin: ['avg winning trade'],
      averageLoss: ['avg losing trade'],
      averageWinLossRatio: ['ratio avg win / avg loss'],
      largestWin: ['largest winning trade'],
      largestWinPct: ['largest winning trade percent'],
      largestWinShare: ['largest winner as % of gross profit'],
      largestLoss: ['largest losing trade'],
      largestLossPct: ['largest losing trade percent'],
      largestLossShare: ['largest loser as % of gross loss'],
      averageBars: ['avg # bars in trades'],
      averageBarsWin: ['avg # bars in winning trades'],
      averageBarsLoss: ['avg # bars in losing trades'],
      sharpe: ['sharpe ratio'],
      sortino: ['sortino ratio'],
      marginCalls: ['margin calls'],
    },
  },
  ru: {
    columns: {
      number: ['номер сделки', '№ сделки', 'сделка №', 'сделка #'],
      type: ['тип'],
      date: ['дата и время'],
      signal: ['сигнал'],
      price: ['цена'],
      quantity: ['размер (кол-во)', 'размер позиции (кол-во)', 'количество'],
      value: ['размер (стоимость)', 'размер позиции (стоимость)', 'размер позиции (цена)', 'стоимость'],
      profit: ['чистая пр/уб', 'чистые пр/уб', 'чистая прибыль / убыток', 'прибыль'],
      commission: ['комиссия'],
      favorable: ['благоприятное отклонение', 'пик'],
      adverse: ['неблагоприятное отклонение', 'просадка'],
      cumulative: ['совокупные пр/уб'],
    },
    rows: {
      entryLong: ['вход в длинную позицию'],
      exitLong: ['выход из длинной позиции'],
      entryShort: ['вход в короткую позицию'],
      exitShort: ['выход из короткой позиции'],
    },
    open: ['открыто'],
  },
  ja: {
    columns: {
      number: ['トレード番号'],
      type: ['タイプ'],
      date: ['日時'],
      signal: ['シグナル'],
      price: ['価格'],
      quantity: ['数量', 'サイズ(数量)'],
      value: ['価値', 'サイズ(価値)'],
      profit: ['純損益'],
      returns: ['リターン'],
      commission: ['手数料'],
      favorable: ['最大順行幅'],
      adverse: ['最大逆行幅'],
      cumulative: ['累積損益'],
    },
    rows: {
      entryLong: ['ロングエントリー', 'ロングのエントリー'],
      exitLong: ['ロング決済', 'ロングのエグジット'],
      entryShort: ['ショートエントリー', 'ショートのエントリー'],
      exitShort: ['ショート決済', 'ショートのエグジット'],
    },
    open: ['未決済'],
  },
  'zh-Hans': {
    columns: {
      number: ['交易编号', '交易 #', '交易#'],
      type: ['类型'],
      date: ['日期和时间', '日期/时间'],
      signal: ['信号'],
      price: ['价格'],
      quantity: ['大小(数量)', '仓位大小(数量)', '数量', '合约'],
      value: ['大小(价值)', '仓位大小(价值)', '价值'],
      profit: ['净损益', '净利润', '净盈亏', '利润'],
      returns: ['回报'],
      commission: ['手续费'],
      favorable: ['有利波动'],
      adverse: ['不利波动'],
      cumulative: ['累计损益', '累计p&l'],
      bars: ['持续时间(k线)'],
    },
    rows: {
      entryLong: ['多头进场'],
      exitLong: ['多头出场'],
      entryShort: ['空头进场'],
      exitShort: ['空头出场'],
    },
    open: ['开盘价'],
    sheets: {
      figures: ['表现', '交易分析', '风险调整后的表现'],
      trades: ['交易清单', '交易'],
      properties: ['属性'],
      other: ['订单'],
    },
    properties: {
      symbol: ['商品代码'],
      tradingRange: ['交易范围'],
      initial_capital: ['初始资金'],
      commission: ['佣金'],
    },
    figures: {
      initialCapital: ['初始资本'],
      netProfit: ['净利润'],
      commissionPaid: ['已支付佣金'],
      maxDrawdown: ['最大净值回撤', '最大回撤(intrabar)'],
      cagr: ['年化收益率'],
      sharpe: ['夏普比率'],
      sortino: ['sortino比率'],
      profitFactor: ['盈利因子'],
      trades: ['总交易'],
      winRate: ['获利百分比'],
      averageWin: ['平均盈利交易'],
      averageLoss: ['平均亏损交易'],
      largestWin: ['最大盈利交易'],
      largestLoss: ['最大亏损交易'],
      averageWinLossRatio: ['平均胜率/平均负率'],
    },
  },
  'zh-Hant': {
    columns: {
      number: ['交易 #'],
      type: ['類型'],
      date: ['日期和時間', '日期/時間'],
      signal: ['訊號'],
      price: ['價格'],
      quantity: ['大小(數量)', '合約'],
      value: ['大小(價值)'],
      profit: ['淨損益', '獲利'],
    },
    rows: {
      entryLong: ['多頭進場'],
      exitLong: ['多頭出場'],
      entryShort: ['空頭進場'],
      exitShort: ['空頭出場'],
    },
    open: [],
  },
  de: {
    columns: {
      number: ['trade-nr.', 'trade nr.'],
      type: ['typ'],
      date: ['datum und uhrzeit'],
      signal: ['signal'],
      price: ['preis'],
      quantity: ['größe (menge)', 'anzahl'],
      value: ['größe (wert)', 'wert'],
      profit: ['g&v netto', 'netto-g&v'],
      favorable: ['positive exkursion'],
      adverse: ['negative exkursion'],
      cumulative: ['kumulativer g&v'],
    },
    rows: {
      entryLong: ['long-einstieg', 'einstieg long'],
      exitLong: ['long-ausstieg', 'ausstieg long'],
      entryShort: ['short-einstieg', 'einstieg short'],
      exitShort: ['short-ausstieg', 'ausstieg short'],
    },
    open: ['offen'],
  },
  fr: {
    columns: {
      number: ['numéro de trade'],
      type: ['type'],
      date: ['date et heure'],
      signal: ['signal'],
      price: ['prix'],
      quantity: ['taille (qté)'],
      value: ['taille (valeur)'],
      profit: ['p&l net'],
      returns: ['retour'],
      commission: ['commission'],
      favorable: ['excursion favorable'],
      adverse: ['excursion adverse'],
      cumulative: ['p&l cumulé'],
      bars: ['durée (barres)'],
    },
    rows: {
      entryLong: ['entrer long', 'entrée longue'],
      exitLong: ['sortir du long', 'sortie longue'],
      entryShort: ['entrer short', 'entrée courte (short)'],
      exitShort: ['sortir du short', 'sortie courte (short)'],
    },
    open: ['ouvert'],
  },
  es: {
    columns: {
      number: ['operación #'],
      type: ['tipo'],
      date: ['fecha y hora', 'fecha/hora'],
      signal: ['señal'],
      price: ['precio'],
      quantity: ['tamaño (cant.)', 'contratos'],
      value: ['tamaño de la posición (valor)', 'tamaño (valor)'],
      profit: ['pyg netas', 'beneficio'],
      favorable: ['desviación favorable'],
      adverse: ['desviación adversa'],
      cumulative: ['pyg acumuladas'],
    },
    rows: {
      entryLong: ['entrada en largo'],
      exitLong: ['salida en largo'],
      entryShort: ['entrada en corto'],
      exitShort: ['salida en corto'],
    },
    open: ['abierta'],
  },
  // Of the last two no export was seen: their words stand as they were recognised before there was this table.
  sv: {
    columns: {
      number: ['affär #'],
      type: ['typ'],
      date: ['datum och tid'],
      signal: ['signal'],
      price: ['pris'],
      quantity: ['antal'],
      value: ['värde'],
      profit: ['netto p&l'],
    },
    rows: {
      entryLong: ['ingång lång'],
      exitLong: ['utgång lång'],
      entryShort: ['ingång kort'],
      exitShort: ['utgång kort'],
    },
    open: ['öppen'],
  },
  ar: {
    columns: {
      number: ['الصفقة #'],
      type: ['النوع'],
      date: ['التاريخ والوقت'],
      signal: ['الإشارة'],
      price: ['السعر'],
      quantity: ['الكمية'],
      value: ['القيمة'],
      profit: ['صافي'],
    },
    rows: {
      entryLong: ['دخول شراء'],
      exitLong: ['خروج شراء'],
      entryShort: ['دخول بيع'],
      exitShort: ['خروج بيع'],
    },
    open: ['مفتوح'],
  },
}

/** A word as the table spells it: case, widths and blanks of the export do not count. */
export function spelled(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()
}

/** Spelling → what it means, in all languages. Throws if two languages mean different things by one word. */
function meanings<Key extends string>(of: (language: Language) => Spellings<Key>): ReadonlyMap<string, Key> {
  const found = new Map<string, Key>()
  for (const language of Object.values(LANGUAGES))
    for (const [key, words] of Object.entries(of(language)) as [Key, readonly string[]][])
      for (const word of words) {
        const other = found.get(spelled(word))
        if (other !== undefined && other !== key) throw new Error(`"${word}" means ${other} and ${key}`)
        found.set(spelled(word), key)
      }
  return found
}

const COLUMNS = meanings(({ columns }) => columns)
const ROWS = meanings(({ rows }) => rows)
const OPEN = meanings(({ open }) => ({ open }))
const SHEETS = meanings(({ sheets = {} }) => sheets)
const PROPERTIES = meanings(({ properties = {} }) => properties)
const FIGURES = meanings(({ figures = {} }) => figures)

/** What a heading of the list of trades says: its column, and whether it is in per cent. null = it is not understood. */
export function columnOf(heading: string): { readonly column: Column; readonly isShare: boolean } | null {
  const word = spelled(heading)
  const plain = COLUMNS.get(word)
  if (plain !== undefined) return { column: plain, isShare: plain === 'returns' }
  // What stands last is per cent or the account's currency, which is written in capitals.
  const match = /^(.+?) ?(%|\p{Lu}[\p{Lu}\d]{1,9})$/u.exec(heading.normalize('NFKC').trim())
  const column = match && COLUMNS.get(spelled(match[1]!))
  return column ? { column, isShare: match[2] === '%' } : null
}

export const rowTypeOf = (word: string): RowType | null => ROWS.get(spelled(word)) ?? null
export const isOpenSignal = (word: string): boolean => OPEN.has(spelled(word))
export const sheetKindOf = (name: string): SheetKind | null => SHEETS.get(spelled(name)) ?? null
export const propertyOf = (name: string): Property | null => PROPERTIES.get(spelled(name)) ?? null
export const figureOf = (name: string): string | null => FIGURES.get(spelled(name)) ?? null
