// What forms say of a field, before a mistake and after one: never what a validator says to programs.

import { expect, test } from 'bun:test'
import { faultOf, refusalOf, wants } from '../../src/dashboard/ui/field-words.ts'
import { placeName, sentenceOf } from '../../src/dashboard/ui/refusal-words.ts'
import type { WireField } from '../../src/dashboard/ui/wire-fields.ts'
import { bodyFields, rowFields } from '../../src/dashboard/ui/wire-fields.ts'

const alert = bodyFields('POST /api/platform/alerts')

test('the wire says what a field takes and what it means', () => {
  expect(bodyFields('POST /api/platform/webhooks').name).toEqual({
    kind: 'text',
    required: true,
    min: 1,
    max: 200,
  })
  const meaning = 'How many bars back `moving_…` compares with.'
  expect(alert.bars).toEqual({ kind: 'integer', required: false, min: 1, max: 1000, meaning })
  expect(alert.price).toEqual({ kind: 'number', required: false })
  expect(alert.message.lines).toBe(true)
  expect(alert.expiresAt.kind).toBe('time')
  const token = rowFields('GET /api/platform/tokens', 'tokens')
  expect(token.lastUsedAt.kind).toBe('time')
  expect(token.last4.meaning).toBe('The last characters of the secret, to tell tokens apart.')
})

test('a field says what it wants before a mistake', () => {
  expect(wants(alert.bars)).toBe('A whole number from 1 to 1,000.')
  expect(wants(alert.price)).toBe('A number, like 12.5.')
  expect(wants(alert.cooldownSec)).toBe('A whole number from 0 to 31,536,000.')
  const facts = bodyFields('PUT /api/platform/symbols/{exchange}/{symbol}')
  expect(wants(facts.mintick)).toBe('A number above 0.')
  expect(wants(alert.name)).toBeUndefined()
})

const check = (field: WireField, text: string, fault: string | undefined, type?: 'email' | 'url') =>
  expect({ text, fault: faultOf(field, text, type) }).toEqual({ text, fault })

test('a field says what it wants after a mistake in the same words', () => {
  check(alert.bars, '10', undefined)
  check(alert.bars, '0', 'A whole number from 1 to 1,000.')
  check(alert.bars, '2.5', 'A whole number from 1 to 1,000.')
  check(alert.price, 'ten', 'A number, like 12.5.')
  check(alert.price, '', undefined)
  check(alert.symbol, '   ', 'This is needed.')
  check(alert.symbol, '期'.repeat(alert.symbol.max!), undefined)
  check(alert.symbol, '期'.repeat(65), 'At most 64 characters.')
  check(alert.symbol, 'A\u0007', 'A line break or control character in it cannot be kept.')
  check(alert.message, 'two\nlines', undefined)
  const { email } = bodyFields('POST /api/support/contact')
  check(email, 'ada', 'An e-mail address, like name@example.com.', 'email')
  check(email, 'ada@пример.рф', undefined, 'email')
  const { url } = bodyFields('POST /api/platform/webhooks')
  check(url, 'example.com', 'A full address, like https://example.com/hook.', 'url')
})

test('a room’s sentence is shown, a validator’s words are not', () => {
  const past = 'The alert would expire in the past.'
  expect(refusalOf({ code: 'past', message: past })).toBe(past)
  const validators = 'expected a string of 1 to 60 characters, found an empty string'
  expect(refusalOf({ code: 'min_length', message: validators }, alert.symbol)).toBe('This is needed.')
  expect(refusalOf({ code: 'union', message: 'expected one of "a", "b"' })).toBe('This cannot be used here.')
  expect(placeName('/items/3/symbol')).toBe('Symbol of entry 4')
  expect(placeName('/space/0/step')).toBe('Step of input 1')
  expect(placeName('/constraints/1')).toBe('Number 2 of constraints')
  const fields = [{ in: 'body' as const, path: '/newPassword', code: 'required', message: 'is required: …' }]
  expect(sentenceOf('body /newPassword: is required: expected a string', fields)).toBe(
    'New password is needed.',
  )
  const said = (path: string, code: string, message: string) =>
    sentenceOf('body: …', [{ in: 'body', path, code, message }])
  expect(said('/csv', 'min_length', 'The file is empty.')).toBe('CSV: The file is empty.')
  expect(said('/csv', 'required', 'is required: expected a string')).toBe('CSV is needed.')
  expect(said('/interval', 'interval', 'expected an interval such as 15m, 1h or 1d')).toBe(
    'Interval: Write an interval such as 15m, 1h or 1d.',
  )
  expect(refusalOf({ code: 'interval', message: 'expected an interval' }, alert.symbol, 'foo')).toBe(
    'Write an interval such as 15m, 1h or 1d.',
  )
  expect(sentenceOf('The server is busy.', fields)).toBe('The server is busy.')
})
