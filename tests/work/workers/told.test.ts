// What the text of a script tells is the same whether it is remembered or read anew.

import { expect, test } from 'bun:test'
import { scriptNames } from '../../../src/broker/trial-name.ts'
import { toldBy } from '../../../src/work/workers/told.ts'
import { outline } from '../../../src/language/outline.ts'
import { defaultSymbol } from '../../../src/market/symbols.ts'

const PLAIN = '//@version=6\nstrategy("Plain", use_bar_magnifier = true)\nimport ann/tools/3\nplot(close)\n'
const ASKING = [
  '//@version=6\nindicator("a")\nplot(request.security("BINANCE:BTCUSDT", "60", close))\n',
  '//@version=6\nindicator("a")\nplot(request.security_lower_tf("X:Y", "1", close).size())\n',
  '//@version=6\nindicator("a")\nplot(request.currency_rate("EUR", "JPY"))\n',
  '//@version=6\nstrategy("a", currency = currency.EUR)\nplot(close)\n',
  '//@version=3\nstudy("a")\nplot(security("X:Y", "D", close))\n',
]
const LONG = `${PLAIN}${'// a long comment\n'.repeat(4000)}`

test('what a text tells is what its outline and its name are, again and again', () => {
  for (const source of [PLAIN, ...ASKING, LONG])
    for (let again = 0; again < 2; again++) {
      const { series: _series, ...told } = toldBy(source).outline as ReturnType<typeof outline>
      const { series: _none, ...read } = outline(source)
      expect(told).toEqual(read)
      expect(toldBy(source).names).toEqual(scriptNames(source))
    }
})

test('a script that asks for another series is never taken for one that does not', () => {
  const chart = { symbol: defaultSymbol('SP', 'SPX'), interval: '1d', inputs: {} }
  for (const source of ASKING) {
    expect(outline(source, chart).series).not.toEqual([])
    expect(toldBy(source).mayAsk).toBe(true)
  }
  // Which bars the rows of a footprint need is not known ahead.
  expect(toldBy('//@version=6\nindicator("a")\nplot(request.footprint(1).poc().delta())\n').mayAsk).toBe(true)
  expect(outline(PLAIN, chart).series).toEqual([])
  expect(toldBy(PLAIN).mayAsk).toBe(false)
})
