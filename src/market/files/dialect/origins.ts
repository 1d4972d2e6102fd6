// Which program names its columns so, and what its clock and its dates are known to be.

import { DATE_ORDERS, type DateOrder } from '../time-format.ts'
import type { Shape } from './dialect.ts'

export type Origin = Pick<Shape, 'origin' | 'zone' | 'order'>

const STOOQ = 'Europe/Warsaw'

/**
 * Who names its columns like this: the program, the zone of its clock and the order of its dates if those are known, and all
 * names as a pattern. Coinbase's stand in any order; without `time` they are of those that name the side of the taker.
 */
const ORIGINS = `
Stooq;${STOOQ};;^ticker,per,date,time,open,high,low,close,vol,openint$
Stooq;${STOOQ};;^data,(czas,)?otwarcie,najwy[zż]szy,najni[zż]szy,zamkni[eę]cie(,wolumen)?$
Yahoo Finance;;;^date,open,high,low,close,adjclose[*]{0,2},volume$
Binance;;;^opentime,open,high,low,close,volume,closetime,
Binance;;;^(aggtradeid|id),price,(qty|quantity),
Coinbase;;;^(?=(.*,)?time(,|$))(?=(.*,)?tradeid(,|$))(?=(.*,)?size(,|$))(?=(.*,)?side(,|$))
OKX;;;^(instrumentname,)?tradeid,side,(price,size|size,price),createdtime(,|$)
Databento;;;(^|,)rtype,publisherid,instrumentid,
Barchart;;;^(symbol,)?time,open,high,low,(last|latest),change,%ch(g|ange),volume
TradeStation;;;^date,time,open,high,low,close,(up,down|vol,oi)(,|$)
MetaTrader 5;;;^date,(time,)?open,high,low,close,tickvol,vol,spread$
MetaTrader 5;;;^date,time,bid,ask,last,volume(,flags)?$
Dukascopy;UTC;dmy;^gmttime,(open,high,low,close,volume|ask,bid,askvolume,bidvolume)$
Dukascopy;;dmy;^localtime,open,high,low,close,volume$
Dukascopy;;dmy;^time[(](eet|utc|gmt)[)],(open,high,low,close,volume|ask,bid,askvolume,bidvolume)$
Finam;Europe/Moscow;;^(ticker,per,)?date,time,open,high,low,close,vol$`
  .split('\n')
  .map((line) => line.split(';'))

export function origin(
  name: string | null,
  zone: string | null = null,
  order: DateOrder | null = null,
): Origin {
  return { origin: name, zone, order }
}

export function originOf(names: readonly string[]): Origin {
  const line = names.join(',')
  const [name = '', zone, order] = ORIGINS.find((one) => one[3] && new RegExp(one[3]).test(line)) ?? []
  return origin(name || null, zone || null, DATE_ORDERS.find((one) => one === order) ?? null)
}
