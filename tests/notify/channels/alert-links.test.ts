// Links in messages: each does one thing, for a week, and nobody can make one but the server.

import { expect, test } from 'bun:test'
import { createAlertLinks, withoutLinks } from '../../../src/notify/channels/alert-links.ts'
import { createSecretBox } from '../../../src/notify/webhooks/secret-box.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { rejection } from '../../rejection.ts'

const bytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))
const WEEK = 7 * 24 * 3_600_000

async function world(publicUrl: string | null = 'https://room.example/charts') {
  const clock = new HandClock()
  const box = await createSecretBox(bytes(32), bytes)
  return { clock, box, links: createAlertLinks({ clock, box, publicUrl }) }
}

test('a link says what it does, for which firing, and until when', async () => {
  const { clock, links } = await world()
  const token = await links.token('acknowledge', 'al_1', 'fir_2', clock.now())
  expect(token).toMatch(/^[\w-]+$/)
  expect(links.url(token)).toBe(`https://room.example/charts/tap#${token}`)
  expect(await links.read(token)).toEqual({
    action: 'acknowledge',
    alertId: 'al_1',
    firingId: 'fir_2',
    until: clock.now() + WEEK,
  })
})

test('it has no address where the server does not know its own', async () => {
  const { links } = await world(null)
  expect(links.url('x')).toBeNull()
})

test('it expires a week after the alert fired', async () => {
  const { clock, links } = await world()
  const token = await links.token('pause', 'al_1', 'fir_2', clock.now())
  clock.time += WEEK
  expect(await links.read(token)).toMatchObject({ action: 'pause' })
  clock.time += 1
  expect(await rejection(links.read(token))).toMatchObject({ status: 410, code: 'link_expired' })
})

test('what is changed, cut, made by another server or sealed for something else is no link', async () => {
  const { clock, box, links } = await world()
  const token = await links.token('pause', 'al_1', 'fir_2', clock.now())
  const foreign = await (await world()).links.token('pause', 'al_1', 'fir_2', clock.now())
  const secret = Buffer.from(await box.seal(`pause al_1 fir_2 ${clock.now() + WEEK}`, 'ch_1')).toString(
    'base64url',
  )
  const flipped = `${token.slice(0, -9)}${token.at(-9) === 'A' ? 'B' : 'A'}${token.slice(-8)}`
  for (const wrong of ['', 'x', token.slice(0, -4), flipped, foreign, secret, token.repeat(20), '☃'])
    expect(await rejection(links.read(wrong))).toMatchObject({ status: 404, code: 'link_not_found' })
})

test('what a service answers is kept without the links that it repeats, however it writes them', async () => {
  const { clock, links } = await world()
  const token = await links.token('pause', 'al_1', 'fir_2', clock.now())
  const url = links.url(token) ?? ''
  const answers = [
    url,
    `<a href="${url}">`,
    JSON.stringify({ text: `Pause: ${url}` }).replaceAll('/', '\\/'),
    encodeURIComponent(url),
    url.replace('#', '\\u0023'),
    url.replace('#', '&#35;'),
    `${url} and ${url}`,
    url.slice(0, -20),
  ]
  for (const answer of answers) {
    expect(withoutLinks(answer)).not.toContain(token.slice(0, 10))
    expect(withoutLinks(answer)).toContain('…')
  }
  expect(withoutLinks('{"tap":"#1"}')).toBe('{"tap":"#1"}')
})
