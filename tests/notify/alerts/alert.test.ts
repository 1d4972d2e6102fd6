// What is kept of the fields of an alert, and what is said when it fires.

import { describe, expect, test } from 'bun:test'
import {
  checkedFields,
  withoutMemory,
  type Alert,
  type AlertFields,
} from '../../../src/notify/alerts/alert.ts'
import type { AlertKind, Operator } from '../../../src/wire/alert.ts'
import { hasHappened, fillMessage } from '../../../src/notify/alerts/message.ts'
import type { Problem } from '../../../src/lib/problem.ts'

const PLAIN: AlertFields = {
  symbol: ' spx ',
  exchange: ' sp',
  interval: '60m',
  kind: 'price',
  op: 'above',
  price: 5,
  channels: ['email', 'webhook', 'email'],
}
const kept = (more: Partial<AlertFields>, now = 1000) => checkedFields({ ...PLAIN, ...more }, now)

describe('fields', () => {
  test('that were left out have their defaults', () => {
    expect(kept({})).toEqual({
      name: '',
      symbol: 'SPX',
      exchange: 'SP',
      interval: '1h',
      kind: 'price',
      op: 'above',
      price: 5,
      price2: null,
      percent: null,
      bars: 1,
      scriptId: null,
      inputs: {},
      plot: '',
      channels: ['email', 'webhook'],
      webhookIds: [],
      channelIds: [],
      escalation: null,
      frequency: 'once',
      message: '',
      cooldownSec: 0,
      expiresAt: null,
    })
  })
  test('are kept where the alert has a use for them', () => {
    const given = {
      name: 'n',
      scriptId: 'scr_1',
      inputs: { Length: 3 },
      plot: 'RSI',
      webhookIds: ['wh_1', 'wh_1'],
      frequency: 'every_time',
      message: 'm',
      cooldownSec: 60,
      expiresAt: 1001,
      bars: 7,
    } as const
    expect(kept(given)).toMatchObject({ ...given, scriptId: null, webhookIds: ['wh_1'], bars: 1 })
    expect(kept({ ...given, op: 'moving_down' })).toMatchObject({ bars: 7 })
    expect(kept({ op: 'moving_up' }).bars).toBe(1)
    // A script compares a plot, or it says itself when it fires.
    expect(kept({ ...given, kind: 'indicator' })).toMatchObject({ scriptId: 'scr_1', op: 'above' })
    for (const kind of ['script', 'strategy'] as const)
      expect(kept({ ...given, kind, price: null })).toMatchObject({ scriptId: 'scr_1', op: null, bars: 1 })
  })
  test('of a channel are two bounds, of a percentage one number above 0 and no price', () => {
    expect(kept({ op: 'inside_channel', price2: 0 }).price2).toBe(0)
    expect(kept({ op: 'moving_up_pct', price: null, percent: 0.1 })).toMatchObject({
      price: null,
      percent: 0.1,
    })
    expect(kept({ price: 0 }).price).toBe(0)
  })
  const refused: [Partial<AlertFields>, string, string][] = [
    [{ kind: 'indicator' }, '/scriptId', 'An alert of kind indicator needs the id of a stored script.'],
    [
      { kind: 'strategy', scriptId: null },
      '/scriptId',
      'An alert of kind strategy needs the id of a stored script.',
    ],
    [
      { kind: 'indicator', scriptId: 'scr_1', op: undefined },
      '/op',
      'Choose an operator: above, below, crossing',
    ],
    [{ op: undefined }, '/op', 'Choose an operator: '],
    [{ price: null }, '/price', 'Say at which price.'],
    [{ op: 'exiting_channel', price2: null }, '/price2', 'A channel has two bounds: price and price2.'],
    [{ op: 'exiting_channel', price: null, price2: 1 }, '/price', 'Say at which price.'],
    [{ op: 'moving_down_pct', percent: null }, '/percent', 'Say by how many per cent: a number above 0.'],
    [{ op: 'moving_down_pct', percent: 0 }, '/percent', 'Say by how many per cent: a number above 0.'],
    [{ op: 'moving_down_pct', percent: -1 }, '/percent', 'Say by how many per cent: a number above 0.'],
    [{ expiresAt: 1000 }, '/expiresAt', 'The alert would expire in the past.'],
  ]
  test.each(refused)('%p are refused at %s', (fields, path, message) => {
    try {
      kept(fields)
      throw new Error('not refused')
    } catch (error) {
      const [field] = (error as Problem).details.fields ?? []
      expect([field?.path, field?.message]).toEqual([path, expect.stringContaining(message)])
    }
  })
  test('that only the looks need are shown to nobody', () => {
    const memory = {
      ownerId: 'u',
      seriesOwner: 'u',
      fresh: true,
      held: true,
      seenBar: 1,
      firedBar: 1,
      judgedAt: 1,
      since: 1,
      recent: [1],
    }
    expect(
      withoutMemory({ ...memory, id: 'al_1', state: 'active', firings: 2 } as unknown as Alert) as unknown,
    ).toEqual({
      id: 'al_1',
      state: 'active',
      firings: 2,
      channelIds: [],
      escalation: null,
    })
  })
})

describe('a message', () => {
  const values = {
    ticker: 'SPX',
    exchange: 'SP',
    interval: '1d',
    open: 1,
    high: 2,
    low: 0.5,
    close: 1.5,
    volume: 7,
    time: 0,
    price: 0,
    name: 'n',
  }
  test('names plots by title and by number from 0, and leaves those that are not there', () => {
    const plots = { RSI: 0, b: 2 }
    expect(
      fillMessage('{{plot_0}} {{ plot_1 }} {{plot_2}} {{plot("b")}} {{plot("")}}', { ...values, plots }),
    ).toBe('0 2 {{plot_2}} 2 {{plot("")}}')
    expect(fillMessage('{{plot_0}} {{plot("RSI")}}', values)).toBe('{{plot_0}} {{plot("RSI")}}')
    expect(fillMessage('{{price}} {{ PRICE }} {{price}}', values)).toBe('0 {{ PRICE }} 0')
  })
  test('has 4,096 characters at most', () => {
    expect(fillMessage('é'.repeat(4096), values)).toBe('é'.repeat(4096))
    expect(fillMessage(`${'🎉'.repeat(4096)}{{name}}`, values)).toBe('🎉'.repeat(4096))
  })
  test.each<[Operator | null, AlertKind, string]>([
    ['above', 'price', 'SPX is above 5'],
    ['crossing_up', 'volume', 'SPX volume crossed above 5'],
    ['inside_channel', 'price', 'SPX is inside the channel 5 to 9'],
    ['moving_up', 'price', 'SPX moved up by 5'],
    ['moving_down_pct', 'change', 'SPX change moved down by 3%'],
    [null, 'script', 'SPX script'],
  ])('of %s on %s says %p', (op, kind, expected) => {
    expect(hasHappened({ symbol: 'SPX', kind, op, price: 5, price2: 9, percent: 3 })).toBe(expected)
  })
})
