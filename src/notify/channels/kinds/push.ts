// Notifications on a phone: ntfy, Gotify and Pushover.

import {
  cutLine,
  formRequest,
  hasField,
  hasId,
  HEADER_TOKEN,
  jsonRequest,
  linkLines,
  jsonOf,
  linksOf,
  PICTURE_NAME,
  secretField,
  serverField,
  serverOf,
  shortened,
  WEB_ADDRESS,
  type ChannelKind,
} from '../kind.ts'

/** https://docs.ntfy.sh/publish/#publish-as-json: a message of 4,096 bytes, and JSON of twice as many. */
export const ntfy: ChannelKind = {
  label: 'ntfy',
  address: 'server',
  fields: {
    topic: {
      label: 'Topic',
      hint: 'The one you subscribed to in the app. On a public server, everybody who knows it can read along.',
      required: true,
      form: [/^[-\w]{1,64}$/, 'up to 64 letters, digits, - and _'],
    },
    server: serverField('Only with a server of your own.', 'https://ntfy.sh'),
    token: {
      label: 'Access token',
      hint: 'Only if the topic is protected.',
      secret: true,
      form: HEADER_TOKEN,
    },
    priority: {
      label: 'Priority',
      hint: '1 makes no sound, 5 rings until it is read.',
      default: '4',
      form: [/^[1-5]$/, 'a number from 1 to 5'],
    },
  },
  // A topic in the address is sent the JSON as a text, and the answer is that of a message that has arrived.
  mistake({ server = '', topic }) {
    const url = URL.parse(server)
    const path = url?.pathname.split('/').filter(Boolean) ?? []
    if (path.at(-1) !== topic && (path.length === 0 || url?.hostname !== 'ntfy.sh')) return null
    const message = `Give the server alone, as ${url?.origin}: what follows it here belongs in Topic.`
    return { field: 'server', message }
  },
  request: (settings, notice) => {
    const access = settings['token'] ? { authorization: `Bearer ${settings['token']}` } : {}
    const title = cutLine(notice.title, 250)
    const actions = linksOf(notice).map((link) => ({ action: 'view', clear: true, ...link }))
    const content = (message: string) => ({
      topic: settings['topic'],
      title,
      message,
      priority: Number(settings['priority']),
      tags: [NTFY_TAG],
      ...(notice.url !== null && { click: notice.url }),
      ...(actions.length > 0 && { actions }),
    })
    const message = shortened(notice, NTFY_BYTES, (text) =>
      Math.max(Buffer.byteLength(text), Buffer.byteLength(JSON.stringify(content(text))) - NTFY_BYTES),
    )
    if (notice.picture)
      return {
        method: 'PUT',
        url: `${serverOf(settings)}/${settings['topic']}`,
        headers: {
          ...access,
          'x-title': headerText(title),
          'x-message': headerText(message),
          'x-priority': settings['priority'] ?? '',
          'x-tags': NTFY_TAG,
          'x-filename': PICTURE_NAME,
          ...(notice.url !== null && { 'x-click': headerText(notice.url) }),
          ...(actions.length > 0 && { 'x-actions': headerText(JSON.stringify(actions)) }),
        },
        body: notice.picture.png,
      }
    return jsonRequest(serverOf(settings), content(message), access)
  },
  // A file takes the place of the text, which goes into headers.
  picture: 'file',
  isTaken: hasId('id'),
  // A topic in the server's address was sent the JSON as a text, and the answer has its name. The path of a proxy looks the same
  // before.
  misset: ({ id, topic }, { topic: wanted }) =>
    id === undefined || (topic ?? wanted) === wanted
      ? null
      : `The message went, as JSON, to the topic ${String(topic)} and not to ${wanted}, since the address in Server names one. Give the server alone there.`,
  refuses: hasField('error'),
  // Files have a limit of their own for a day.
  refusesPicture: (reply) => jsonOf(reply)['code'] === 42905,
}

const NTFY_TAG = 'chart_with_upwards_trend'
const NTFY_BYTES = 4096

/** A header takes no line breaks, and no letters outside ASCII but in the form of RFC 2047. */
function headerText(text: string): string {
  const isPlain = /^[!-~](?:[ -~]*[!-~])?$/.test(text) && !text.includes('=?')
  return isPlain ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`
}

/** https://gotify.net/api-docs */
export const gotify: ChannelKind = {
  label: 'Gotify',
  address: 'server',
  fields: {
    server: {
      label: 'Server',
      hint: 'Such as https://gotify.example.com.',
      required: true,
      form: WEB_ADDRESS,
    },
    token: secretField('Application token', 'Under Apps, after Create application.', HEADER_TOKEN),
    priority: {
      label: 'Priority',
      hint: 'From 0, which makes no sound, to 10.',
      default: '8',
      form: [/^(\d|10)$/, 'a number from 0 to 10'],
    },
  },
  request: (settings, notice) =>
    jsonRequest(
      `${serverOf(settings)}/message`,
      {
        title: cutLine(notice.title, 250),
        message: shortened(notice, 4000) + linkLines(notice),
        priority: Number(settings['priority']),
        ...(notice.url !== null && {
          extras: {
            'client::notification': {
              click: { url: notice.url },
              ...(notice.picture?.url && { bigImageUrl: notice.picture.url }),
            },
          },
        }),
      },
      { 'x-gotify-key': settings['token'] ?? '' },
    ),
  picture: 'address',
  isTaken: hasId('id'),
  refuses: hasField('error'),
}

/** https://pushover.net/api: a title of 250 characters, a text of 1,024, an address of 512, a picture of 5 MB. */
export const pushover: ChannelKind = {
  label: 'Pushover',
  address: 'server',
  fields: {
    token: secretField('API token', 'Of your application on pushover.net.', [
      /^[A-Za-z0-9]{30}$/,
      '30 letters and digits',
    ]),
    user: secretField('User key', 'On the first page of pushover.net; the key of a group does too.', [
      /^[A-Za-z0-9]{30}$/,
      '30 letters and digits',
    ]),
    device: {
      label: 'Device',
      hint: 'Its name, or empty for all.',
      form: [/^[\w,-]{1,250}$/, 'names of devices, with commas between them'],
    },
    priority: {
      label: 'Priority',
      hint: '-2 shows nothing, 0 is usual, 1 sounds in quiet hours too.',
      default: '0',
      form: [/^(-2|-1|0|1)$/, '-2, -1, 0 or 1'],
    },
    server: serverField('Only for a service that takes the same.', 'https://api.pushover.net'),
  },
  request: (settings, notice, id) => {
    const url = `${serverOf(settings)}/1/messages.json`
    const texts = {
      token: settings['token'] ?? '',
      user: settings['user'] ?? '',
      title: cutLine(notice.title, 250),
      message: shortened(notice, 1024 - linkLines(notice).length) + linkLines(notice),
      ...(settings['device'] && { device: settings['device'] }),
      ...(notice.url !== null &&
        notice.url.length <= 512 && { url: notice.url, url_title: 'Open the chart' }),
    }
    const [priority, timestamp] = [Number(settings['priority']), Math.floor(notice.at / 1000)]
    if (!notice.picture) return jsonRequest(url, { ...texts, priority, timestamp })
    const all = { ...texts, priority: String(priority), timestamp: String(timestamp) }
    return formRequest(url, all, { name: 'attachment', png: notice.picture.png }, id)
  },
  picture: 'file',
  isTaken: (reply) => jsonOf(reply)['status'] === 1,
  refuses: hasField('status'),
  // When the month's messages are used up. As long as some are left, the time of the next month says nothing.
  waits(_, { 'x-limit-app-remaining': remaining, 'x-limit-app-reset': reset }, now) {
    const seconds = Number(reset) - now / 1000
    return Number(remaining) <= 0 && seconds > 0 ? seconds : undefined
  },
}
