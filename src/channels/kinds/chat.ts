// Chats: Telegram, Discord, Slack and Matrix.

import {
  cut,
  formRequest,
  hasId,
  HEADER_TOKEN,
  jsonRequest,
  jsonOf,
  linkLines,
  linksOf,
  PICTURE_NAME,
  pictureText,
  serverOf,
  WEB_ADDRESS,
  type ChannelKind,
  refusalText,
  type Notice,
  type Settings,
} from '../kind.ts'

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const linked = (notice: Notice, shown: (label: string, url: string) => string, lineBreak: string) =>
  linksOf(notice)
    .map(({ label, url }) => lineBreak + shown(label, url))
    .join('')
const htmlLinks = (notice: Notice, lineBreak: string) =>
  linked(notice, (label, url) => `<a href="${escapeHtml(url)}">${label}</a>`, lineBreak)
const markedLinks = (notice: Notice) => linked(notice, (label, url) => `[${label}](${url})`, '\n')
const slackLinks = (notice: Notice) => linked(notice, (label, url) => `<${url}|${label}>`, '\n')

/** The text, cut so that what is put around it still fits. */
const shortText = ({ text }: Notice, most: number) => cut(text, most)

/**
 * https://core.telegram.org/bots/api#sendmessage: 4,096 characters after the marks are read; sendPhoto: 1,024, so a longer
 * text goes without the picture.
 */
export const telegram: ChannelKind = {
  label: 'Telegram',
  address: 'server',
  fields: {
    token: {
      label: 'Bot token',
      hint: 'From @BotFather, after /newbot.',
      secret: true,
      required: true,
      form: [/^\d+:[\w-]{20,}$/, 'a token like 123456789:AAH…'],
    },
    chat: {
      label: 'Chat',
      hint: 'The number of the chat, or @name of a channel. Write to the bot first, or add it to the group.',
      required: true,
      form: [/^(-?\d+|@\w+)$/, 'a number, or a name that begins with @'],
    },
    server: {
      label: 'Server',
      hint: 'Only with a Bot API server of your own.',
      default: 'https://api.telegram.org',
      form: WEB_ADDRESS,
    },
  },
  request: (settings, notice, id) => {
    const title = `<b>${escapeHtml(cut(notice.title, 250))}</b>`
    const link = notice.url === null ? '' : `\n<a href="${escapeHtml(notice.url)}">Open the chart</a>`
    const bot = `${serverOf(settings)}/bot${settings['token']}`
    const chat = settings['chat'] ?? ''
    const text = `${title}\n${escapeHtml(shortText(notice, 3500))}${link}${htmlLinks(notice, '\n')}`
    if (notice.picture && shownLength(text) <= TELEGRAM_CAPTION) {
      const texts = { chat_id: chat, caption: text, parse_mode: 'HTML' }
      return formRequest(`${bot}/sendPhoto`, texts, { name: 'photo', png: notice.picture.png }, id)
    }
    return jsonRequest(`${bot}/sendMessage`, {
      chat_id: chat,
      text,
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    })
  },
  picture: 'file',
  isTaken: (reply) => jsonOf(reply)['ok'] === true,
  waits: ({ parameters }) => (parameters as { retry_after?: number } | undefined)?.retry_after,
}

const TELEGRAM_CAPTION = 1024
/** The length of a text without its marks. */
const shownLength = (html: string): number => html.replace(/<[^>]*>/g, '').replace(/&\w+;/g, '&').length

/**
 * https://discord.com/developers/docs/resources/webhook#execute-webhook: a title of 256 characters, a text of 4,096. It is
 * asked to wait until the message is saved, since otherwise it says yes to one that it then loses.
 */
export const discord: ChannelKind = {
  label: 'Discord',
  address: 'url',
  fields: {
    url: {
      label: 'Webhook address',
      hint: 'In the channel’s settings: Integrations, Webhooks, Copy webhook URL.',
      secret: true,
      required: true,
      form: WEB_ADDRESS,
    },
  },
  request: (settings, notice, id) => {
    const { picture } = notice
    const url = waitingFor(settings['url'] ?? '')
    const message = {
      // A message must not ping everybody because a script says so.
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: cut(notice.title, 256),
          description: shortText(notice, 3500) + markedLinks(notice),
          timestamp: new Date(notice.at).toISOString(),
          ...(notice.url !== null && { url: notice.url }),
          ...(picture && { image: { url: `attachment://${PICTURE_NAME}` } }),
        },
      ],
    }
    if (!picture) return jsonRequest(url, message)
    const attachments = [{ id: 0, filename: PICTURE_NAME, description: pictureText(notice) }]
    const texts = { payload_json: JSON.stringify({ ...message, attachments }) }
    return formRequest(url, texts, { name: 'files[0]', png: picture.png }, id)
  },
  picture: 'file',
  // Servers that speak the same may have nothing to say.
  isTaken: (reply) => reply.status === 204 || hasId('id')(reply),
  waits: ({ retry_after: seconds }) => (typeof seconds === 'number' ? seconds : undefined),
}

/** An address that is none is left to the rules for addresses. */
function waitingFor(address: string): string {
  const url = URL.parse(address)
  url?.searchParams.set('wait', 'true')
  return url?.href ?? address
}

/** https://api.slack.com/messaging/webhooks; a header of 150 characters and a section of 3,000. */
export const slack: ChannelKind = {
  label: 'Slack',
  address: 'url',
  fields: {
    url: {
      label: 'Webhook address',
      hint: 'Of an app with Incoming Webhooks; Mattermost and Rocket.Chat take the same.',
      secret: true,
      required: true,
      form: WEB_ADDRESS,
    },
  },
  request: ({ url = '' }, notice) => {
    const escaped = (text: string) =>
      text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    const link = notice.url === null ? '' : `\n<${notice.url}|Open the chart>`
    // An escaped character that the cut would split is left out.
    const short = cut(escaped(notice.text), 2500).replace(/&[a-z]{0,3}$/, '')
    return jsonRequest(url, {
      text: escaped(cut(`${notice.title}: ${notice.text}`, 3000)),
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: cut(notice.title, 150) } },
        { type: 'section', text: { type: 'mrkdwn', text: `${short}${link}${slackLinks(notice)}` } },
        ...(notice.picture
          ? [{ type: 'image', image_url: notice.picture.url, alt_text: pictureText(notice) }]
          : []),
      ],
    })
  },
  // An incoming webhook takes no files.
  picture: 'address',
  // Slack and Mattermost say `ok`, Rocket.Chat says it in JSON, and others that take the same say nothing.
  isTaken: (reply) => {
    const { ok, success } = jsonOf(reply)
    return /^\s*(?:(?:ok\s*)?$|\{)/i.test(reply.excerpt) && ok !== false && success !== false
  },
}

const hasEventId = hasId('event_id')

/**
 * https://spec.matrix.org: PUT with the notice's id, by which a repetition is recognised. The picture is an event of its own
 * behind the text, with an id that follows from the notice's: clients of before 2024 know no picture with a text.
 */
export const matrix: ChannelKind = {
  label: 'Matrix',
  address: 'server',
  fields: {
    server: {
      label: 'Home server',
      hint: 'Such as https://matrix.org.',
      required: true,
      form: WEB_ADDRESS,
    },
    token: {
      label: 'Access token',
      hint: 'Of the account that writes; in Element under Help & About.',
      secret: true,
      required: true,
      form: HEADER_TOKEN,
    },
    room: {
      label: 'Room',
      hint: 'Its internal id, which begins with an exclamation mark. The account must have joined it.',
      required: true,
      form: [/^!\S+$/, 'an internal id that begins with !'],
    },
  },
  request: (settings, notice, id) => {
    const link = notice.url === null ? '' : `<br><a href="${escapeHtml(notice.url)}">Open the chart</a>`
    const text = shortText(notice, 8000)
    return {
      ...jsonRequest(
        eventUrl(settings, id),
        {
          msgtype: 'm.text',
          body: `${notice.title}\n${text}${notice.url === null ? '' : `\n${notice.url}`}${linkLines(notice)}`,
          format: 'org.matrix.custom.html',
          formatted_body: `<b>${escapeHtml(notice.title)}</b><br>${escapeHtml(text).replaceAll('\n', '<br>')}${link}${htmlLinks(notice, '<br>')}`,
        },
        { authorization: `Bearer ${settings['token']}` },
      ),
      method: 'PUT',
    }
  },
  picture: 'file',
  async sendPicture(settings, { png }, id, send) {
    const headers = { authorization: `Bearer ${settings['token']}` }
    const uploaded = await send({
      method: 'POST',
      url: `${serverOf(settings)}/_matrix/media/v3/upload?filename=${PICTURE_NAME}`,
      headers: { ...headers, 'content-type': 'image/png' },
      body: png,
    })
    const { content_uri: url } = jsonOf(uploaded)
    if (uploaded.status !== 200 || typeof url !== 'string') return refusalText(uploaded)
    const size = new DataView(png.buffer, png.byteOffset)
    const info = { mimetype: 'image/png', size: png.length, w: size.getUint32(16), h: size.getUint32(20) }
    const content = { msgtype: 'm.image', body: PICTURE_NAME, url, info }
    const shown = await send({
      ...jsonRequest(eventUrl(settings, `${id}_chart`), content, headers),
      method: 'PUT',
    })
    return shown.status === 200 && hasEventId(shown) ? null : refusalText(shown)
  },
  isTaken: hasEventId,
  waits: ({ retry_after_ms: ms }) => (typeof ms === 'number' ? ms / 1000 : undefined),
}

const eventUrl = (settings: Settings, id: string): string =>
  `${serverOf(settings)}/_matrix/client/v3/rooms/${encodeURIComponent(settings['room'] ?? '')}/send/m.room.message/${id}`
