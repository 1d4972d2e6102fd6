// SMTP by nodemailer: SMTP_URL is `smtps://user:password@host:465`.

import { createTransport } from 'nodemailer'
import { LetterRefused, type Transport } from './mail.ts'

/** Longest time to connect, and longest silence afterwards. */
const CONNECT_MS = 10_000
const SILENT_MS = 30_000

/** `sender` is an address; without one it is the account's at the mail server, if that is an address. */
export function smtpTransport(smtpUrl: string, sender: string | null): Transport {
  const url = new URL(smtpUrl)
  const account = url.username.includes('%40') ? decodeURIComponent(url.username) : null
  const from = sender ?? account ?? `chartroom@${url.hostname}`
  const transport = createTransport(
    {
      url: url.href,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      dnsTimeout: CONNECT_MS,
      socketTimeout: SILENT_MS,
    },
    { from: { name: 'Chartroom', address: from } },
  )
  return async ({ to, subject, text, id }, picture) => {
    try {
      await transport.sendMail({
        to,
        subject,
        text,
        messageId: `<${id}@${url.hostname}>`,
        ...(picture && shown(id, text, Buffer.from(picture))),
      })
    } catch (error) {
      throw aboutTheLetter(error) ? new LetterRefused(error.message) : error
    }
  }
}

/** The same text once more, with the picture under it, by a name that is no other letter's (RFC 2392). */
function shown(id: string, text: string, content: Buffer) {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const linked = escaped.replace(/https?:\/\/[^\s"]+/g, '<a href="$&">$&</a>')
  const cid = `${id}.chart@chartroom`
  return {
    html: `<div style="white-space:pre-wrap">${linked}</div><p><img src="cid:${cid}" alt="Chart" width="800" style="max-width:100%"></p>`,
    attachments: [{ filename: 'chart.png', content, contentType: 'image/png', cid }],
  }
}

/** The server answered the sender, the recipient or the text with a refusal; anything else keeps every letter from going out. */
function aboutTheLetter(error: unknown): error is Error {
  return (
    error instanceof Error && 'code' in error && (error.code === 'EENVELOPE' || error.code === 'EMESSAGE')
  )
}
