// A notification of a browser, which its maker's push service hands to it while no page is open.

import type { PushMessage } from '../../../wire/channel.ts'
import {
  bytesOf,
  cutLine,
  secretField,
  shortened,
  type ChannelKind,
  type Notice,
  WEB_ADDRESS,
} from '../kind.ts'
import { encryptPush, freshSecrets, PUSH_BYTES } from '../push-encryption.ts'

/** How long a service keeps a message for a browser that is not there. */
const KEPT_SECONDS = 24 * 3600

/** https://www.rfc-editor.org/rfc/rfc8030, 8188, 8291 and 8292 */
export const push: ChannelKind = {
  label: 'Browser',
  address: 'endpoint',
  fields: {
    endpoint: secretField(
      'Endpoint',
      'Of the browser’s subscription. The page Channels fills it in.',
      WEB_ADDRESS,
    ),
    p256dh: {
      label: 'Public key',
      hint: 'The subscription’s key p256dh.',
      required: true,
      form: [/^B[\w-]{86}=?$/, 'a key of 65 bytes as base64url'],
    },
    auth: secretField('Secret', 'The subscription’s key auth.', [
      /^[\w-]{22}(==)?$/,
      '16 bytes as base64url',
    ]),
  },
  request: ({ endpoint = '' }, notice, id) => ({
    method: 'POST',
    url: endpoint,
    headers: {
      ttl: String(KEPT_SECONDS),
      urgency: 'high',
      'content-type': 'application/octet-stream',
      'content-encoding': 'aes128gcm',
    },
    body: JSON.stringify(messageOf(notice, id)),
  }),
  async finish({ url, headers, body }, { p256dh = '', auth = '' }, { signer, random }) {
    return {
      headers: { ...headers, authorization: await signer.authorization(url) },
      body: await encryptPush(bytesOf(body), { p256dh, auth }, await freshSecrets(random)),
    }
  },
  picture: 'path',
  // RFC 8030, section 5, asks for 201. Services that answer otherwise do not answer with a page.
  isTaken: ({ status, excerpt }) => status === 201 || !/^\s*</.test(excerpt),
  // RFC 8030, section 7.3: a service says by either that the subscription has ended.
  isGone: (status) => status === 404 || status === 410,
}

/** The message, its text shortened so that it still fits when encrypted. */
function messageOf(notice: Notice, id: string): PushMessage {
  const { title, path = '/alerts', at } = notice
  const actions = notice.actions?.map(({ action, label, token }) => ({ action, label, token }))
  const message = (most: number): PushMessage => ({
    id,
    title: cutLine(title, 250),
    text: shortened(notice, most),
    path,
    at,
    ...(actions && { actions }),
    ...(notice.picture && { picture: notice.picture.path }),
  })
  // Letters outside ASCII take up to three bytes, and JSON escapes some into six.
  for (let most = PUSH_BYTES; ; most = Math.floor(most * 0.9)) {
    const made = message(most)
    if (Buffer.byteLength(JSON.stringify(made)) <= PUSH_BYTES || most === 0) return made
  }
}
