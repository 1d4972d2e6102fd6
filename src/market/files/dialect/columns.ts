// Which column is which by its name, in the languages and spellings of programs, or as the user tells.

import { SIDE_NAMES, sideWordsOf } from '../sides.ts'
import { type Dialect, type Role, ROLES } from './dialect.ts'
import { badHint } from './refusals.ts'

/** The names of columns, compared in lower case and without brackets, quotes and spaces; the first found counts. */
export const NAMES: Readonly<Record<Role, readonly string[]>> = {
  time: words(
    'time opentime timeopen start timestamp transacttime unix datetime date gmttime localtime time(utc) time(eet) time(gmt) date(utc) date(gmt)',
    'windowstart createdtime tradetime tsrecv tsevent ts t startdate starttime begin indexlevel0 index day',
    'дата datum zeitpunkt data fecha horodatage tarih 日期 时间 日付 날짜 일자',
  ),
  clock: words('time время uhrzeit zeit hora heure czas'),
  open: words(
    'open o openprice открытие откр откр. eröffnung eröffn. eröffnungskurs anfangskurs erster ouv. ouverture premier apertura abertura opening 开盘 开盘价',
    'otwarcie açılış 始値 시가',
  ),
  high: words(
    'high h highprice максимум макс макс. hoch hochkurs höchst höchstkurs tageshoch plushaut máximo máx máx. máxima alto massimo 最高 最高价 najwyzszy najwyższy',
    'haut yüksek 高値 고가 max',
  ),
  low: words(
    'low l lowprice минимум мин мин. tief tiefkurs tiefst tiefstkurs tagestief plusbas mínimo mín mín. mínima bajo minimo 最低 最低价 najnizszy najniższy',
    'bas düşük 安値 저가 min',
  ),
  close: words(
    'close c closelast close/last last latest closeprice закрытие закр закр. price цена schluss schlusskurs letzter 收盘 收盘价',
    'zamkniecie zamknięcie zuletzt dernier último ultimo cierre fechamento clôture cloture fermeture şimdi 終値 종가',
  ),
  volume: words(
    'volume vol vol. v tickvol tickvolume basevolume объем объём volumen wolumen stücke stuecke stück stueck stk stk. cantidad títulos quantité titres количество кол-во umsatz hac. 成交量 出来高 거래량',
  ),
  price: words('price p last rate kurs precio prix цена'),
  quantity: words('qty quantity size amount volume vol v q stück menge cantidad quantité количество объем'),
  bid: words('bid bidprice'),
  ask: words('ask askprice'),
  ticker: words('ticker symbol instrumentname instrumentid tscode code 股票代码 name тикер'),
  side: SIDE_NAMES,
  bought: words(
    'bought takerbuyvolume takerbuybasevolume takerbuybaseassetvolume takerbuybaseasset takerbuybase',
  ),
  down: words('down'),
}

// Texts in a list take more room in the executable than one text that is split.
function words(...lines: readonly string[]): string[] {
  return lines.join(' ').split(' ')
}

export const PRICES = ['open', 'high', 'low', 'close'] as const

export function plainName(cell: string): string {
  return cell
    .normalize()
    .toLowerCase()
    .replace(/[<>[\]\s_"]/g, '')
}

/** How far behind others a name of JSON stands among those of a role; -1 if it is none. A capital letter is another name. */
export function rankOfName(name: string, role: Role): number {
  return NAMES[role].indexOf(name.length === 1 ? name : plainName(name))
}

/** The columns that there are. */
export function present(columns: Readonly<Partial<Record<Role, number>>>): Dialect['columns'] {
  return Object.fromEntries(Object.entries(columns).filter(([, index]) => index >= 0))
}

export function sidesIn({ columns, names, origin }: Pick<Dialect, 'columns' | 'names' | 'origin'>) {
  const { side } = columns
  return side === undefined ? null : sideWordsOf(names[side] && plainName(names[side]), origin)
}

/** The numbers of the columns that the user named. Throws Problem 422 if the file has none of that name. */
export function columnsOf(told = '', cells: readonly string[], width = cells.length): Dialect['columns'] {
  const columns: Partial<Record<Role, number>> = {}
  for (const one of told === '' ? [] : told.split(ROLE_BEGINS)) {
    const [, word = '', name = ''] = /^\s*(\w+)=(.*)$/.exec(one) ?? []
    const role = ROLES.find((known) => known === word)
    if (role === undefined)
      throw badHint('columns', `must be like time=Date,open=First; known are ${ROLES.join(', ')}`)
    const same = cells.findIndex((cell) => plainName(cell) === plainName(name))
    const index = same < 0 && /^[1-9]\d{0,4}$/.test(name) ? Number(name) - 1 : same
    if (index < 0 || index >= width) {
      const known = cells.map((cell) => cell.trim()).join(', ')
      throw badHint('columns', `names ${name.slice(0, 100)}, but the columns are ${known.slice(0, 400)}`)
    }
    columns[role] = index
  }
  return columns
}

/** A name may have commas of its own. */
const ROLE_BEGINS = new RegExp(`[,;](?=\\s*(?:${ROLES.join('|')})=)`)
