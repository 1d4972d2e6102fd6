// SMTP by nodemailer: SMTP_URL is `smtps://user:password@host:465`.

import { createTransport } from 'nodemailer'
import type { Transport } from './mail.ts'

/** `sender` is an address; without one it is the account's at the mail server, if that is an address. */
export function smtpTransport(smtpUrl: string, sender: string | null): Transport {
  const url = new URL(smtpUrl)
  const account = url.username.includes('%40') ? decodeURIComponent(url.username) : null
  const from = sender ?? account ?? `chartroom@${url.hostname}`
  const transport = createTransport(url.href, { from: { name: 'Chartroom', address: from } })
  return async ({ to, subject, text, id }) => {
    await transport.sendMail({ to, subject, text, messageId: `<${id}@${url.hostname}>` })
  }
}
