// How a letter looks on the wire, taken in by a mail server of our own.

import { expect, test } from 'bun:test'
import type { Letter } from '../../../src/notify/mail/mail.ts'
import { smtpTransport } from '../../../src/notify/mail/smtp.ts'
import { smtpSink } from '../../journeys/smtp-sink.ts'

const LETTER: Letter = {
  id: 'mail_1',
  ownerId: 'usr_1',
  to: 'ada@example.com',
  subject: 'Alert: BTC <70,000>',
  text: 'BTC <b>70,000</b> & rising\n\nOpen the chart: https://room.example/chart/X%3ABC/1h\nPause it: https://room.example/tap#abc',
  state: 'waiting',
  attempts: 1,
  nextAt: 0,
  problem: null,
  createdAt: 0,
  sentAt: null,
}
const PNG = Uint8Array.from(Buffer.from('89504e470d0a1a0a', 'hex'))

async function received(picture: Uint8Array | null, id = LETTER.id): Promise<string> {
  const letters: string[] = []
  const sink = await smtpSink(({ data }) => letters.push(data))
  try {
    await smtpTransport(sink.url, 'room@example.com')({ ...LETTER, id }, picture)
  } finally {
    sink.close()
  }
  return letters.join('')
}

/** The parts of a letter behind its own head, each with its head; parts of parts too. */
function partsOf(letter: string): readonly string[] {
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(letter) ?? []
  if (boundary === '') return [letter]
  return letter
    .split(`--${boundary}`)
    .slice(1, -1)
    .flatMap((part) => partsOf(part.trim()))
}

test('a letter without a picture is its text', async () => {
  const letter = await received(null)
  expect(letter).toContain('Content-Type: text/plain; charset=utf-8')
  expect(letter).not.toContain('multipart')
  expect(letter.split('\n\n').slice(1).join('\n\n').trimEnd()).toBe(LETTER.text)
})

test('one with a picture has the same text, and once more with the picture in it', async () => {
  const letter = await received(PNG)
  expect(letter).toContain('Content-Type: multipart/alternative')
  const [text = '', html = '', image = '', ...more] = partsOf(letter)
  expect(more).toEqual([])
  expect(text).toContain('Content-Type: text/plain; charset=utf-8')
  expect(text.split('\n\n').slice(1).join('\n\n')).toBe(LETTER.text)
  expect(html).toContain('Content-Type: text/html; charset=utf-8')
  const shown = html.replaceAll('=\n', '').replaceAll('=3D', '=')
  expect(shown).toContain('BTC &lt;b&gt;70,000&lt;/b&gt; &amp; rising')
  expect(shown).toContain('<a href="https://room.example/tap#abc">https://room.example/tap#abc</a>')
  expect(shown).toContain('Open the chart: <a href="https://room.example/chart/X%3ABC/1h">https://')
  const [, cid = ''] = /src="cid:([^"]+)"/.exec(shown) ?? []
  expect(image).toContain('Content-Type: image/png; name=chart.png')
  expect(image).toContain(`Content-ID: <${cid}>`)
  expect(image).toContain('Content-Disposition: inline')
  expect(image.split('\n\n').at(-1)?.trim()).toBe(Buffer.from(PNG).toString('base64'))
})

test('no two letters name their pictures alike', async () => {
  const named = async (id: string) => /^Content-ID: <([^>]+)>$/m.exec(await received(PNG, id))?.[1]
  expect([await named('mail_1'), await named('mail_2')]).toEqual([
    'mail_1.chart@chartroom',
    'mail_2.chart@chartroom',
  ])
})
