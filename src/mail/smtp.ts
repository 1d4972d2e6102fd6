// SMTP by nodemailer: SMTP_URL is `smtps://user:password@host:465/?from=chartroom@example.org`.

import { createTransport } from 'nodemailer'
import type { Transport } from './mail.ts'

/** Throws an Error that says what is wrong with the URL. */
export function smtpTransport(smtpUrl: string): Transport {
  let url: URL
  try {
    url = new URL(smtpUrl)
  } catch {
    throw new Error('SMTP_URL is not a URL: write smtp://user:password@host:587')
  }
  if (url.protocol !== 'smtp:' && url.protocol !== 'smtps:')
    throw new Error('SMTP_URL must begin with smtp:// or smtps://')
  const from =
    url.searchParams.get('from') ??
    (url.username.includes('%40') ? decodeURIComponent(url.username) : `chartroom@${url.hostname}`)
  url.searchParams.delete('from')
  const transport = createTransport(url.href, { from: { name: 'Chartroom', address: from } })
  return async ({ to, subject, text, id }) => {
    await transport.sendMail({ to, subject, text, messageId: `<${id}@${url.hostname}>` })
  }
}
