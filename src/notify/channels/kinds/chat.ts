// Chats: Telegram, Discord, Slack and Matrix.

import {
  cutLine,
  formRequest,
  hasField,
  hasId,
  HEADER_TOKEN,
  jsonRequest,
  jsonOf,
  linkLines,
  linksOf,
  PICTURE_NAME,
  pictureText,
  secretField,
  serverField,
  serverOf,
  shortened,
  WEB_ADDRESS,
  type ChannelKind,
  refusalText,
  type Notice,
  type Settings,
} from '../kind.ts'

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** A part of a message: a text as somebody wrote it, or a link of ours. */
interface Piece {
  readonly text: string
  readonly url?: string
}

/**
 * What stands below the title. Texts are shortened to `most`; of the links of a digest's lines so many are shown: first one
 * of each line, then the second of as many as that leaves.
 */
function piecesOf(notice: Notice, most: number, lineLinks: number): readonly Piece[] {
  const linesOf = notice.lines ?? []
  const body = lineLinks > 0 ? linesOf : [{ text: shortened(notice, most), links: [] }]
  const linksIn = (line: number) => Math.ceil((lineLinks - line) / linesOf.length)
  const own =
    notice.url === null ? [] : [{ label: notice.lines ? 'All alerts' : 'Open the chart', url: notice.url }]
  const pieces = [
    ...body.flatMap(({ text, links }, i) => [
      { text: i > 0 ? `\n${text}` : text },
      ...links.slice(0, linksIn(i)).flatMap(({ label, url }) => [{ text: ' · ' }, { text: label, url }]),
    ]),
    ...[...own, ...linksOf(notice)].flatMap(({ label, url }) => [{ text: '\n' }, { text: label, url }]),
  ]
  return pieces.filter(({ text }) => text !== '')
}

/** The first way to say it that fits: with all links, with fewer in the lines of a digest, then with ever less text. */
function fitted<T>(
  notice: Notice,
  most: number,
  rendered: (pieces: readonly Piece[]) => T,
  fits: (made: T) => boolean,
): T {
  for (let lineLinks = 2 * (notice.lines?.length ?? 0); lineLinks > 0; lineLinks--) {
    const made = rendered(piecesOf(notice, most, lineLinks))
    if (fits(made)) return made
  }
  for (let length = most; ; length = Math.floor(length * 0.8)) {
    const made = rendered(piecesOf(notice, length, 0))
    if (fits(made) || length === 0) return made
  }
}

const html =
  (lineBreak: string) =>
  (pieces: readonly Piece[]): string =>
    pieces
      .map(({ text, url }) => {
        const shown = escapeHtml(text).replaceAll('\n', lineBreak)
        return url === undefined ? shown : `<a href="${escapeHtml(url)}">${shown}</a>`
      })
      .join('')

/**
 * Discord's Markdown: a backslash takes the meaning from any sign behind it, but not within an address, where it would be a
 * part of that. https://support.discord.com/hc/en-us/articles/210298617
 */
const escapeMarkdown = (text: string): string =>
  text
    .split(/(https?:\/\/[^\s<]+)/i)
    .map((part, i) =>
      i % 2 === 1
        ? part
        : part
            .replace(/[\\*_~|`[\]<>@]/g, String.raw`\$&`)
            // `:name:` is a picture there, and `:30:` of a time is none.
            .replace(/:(?!\d\d?:)(?=[\w+-]+:)/g, String.raw`\:`)
            .replace(/^([ \t]*)([-+#])/gm, String.raw`$1\$2`)
            .replace(/^([ \t]*\d+)\./gm, String.raw`$1\.`),
    )
    .join('')

const markdown = (pieces: readonly Piece[]): string =>
  pieces
    .map(({ text, url }) =>
      url === undefined ? escapeMarkdown(text) : `[${text}](${url.replaceAll(')', '%29')})`,
    )
    .join('')

/** As much of a text as fits once it is escaped. */
function escapedTo(text: string, most: number): string {
  for (let length = most; ; length--) {
    const escaped = escapeMarkdown(cutLine(text, length))
    if (escaped.length <= most) return escaped
  }
}

/**
 * https://core.telegram.org/bots/api#sendmessage: 4,096 characters after the marks are read; sendPhoto: 1,024, so a longer
 * text goes without the picture.
 */
export const telegram: ChannelKind = {
  label: 'Telegram',
  address: 'server',
  fields: {
    token: secretField('Bot token', 'From @BotFather, after /newbot.', [
      /^\d+:[\w-]{20,}$/,
      'a token like 123456789:AAH…',
    ]),
    chat: {
      label: 'Chat',
      hint: 'The number of the chat, or @name of a channel. Write to the bot first, or add it to the group.',
      required: true,
      form: [/^(-?\d+|@\w+)$/, 'a number, or a name that begins with @'],
    },
    server: serverField('Only with a Bot API server of your own.', 'https://api.telegram.org'),
  },
  request: (settings, notice, id) => {
    const title = `<b>${escapeHtml(cutLine(notice.title, 250))}</b>`
    const bot = `${serverOf(settings)}/bot${settings['token']}`
    const chat = settings['chat'] ?? ''
    const text = fitted(
      notice,
      3500,
      (pieces) => `${title}\n${html('\n')(pieces)}`,
      (made) => shownLength(made) <= TELEGRAM_TEXT,
    )
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
  refuses: hasField('ok'),
  // A group that becomes a supergroup has another number from then on.
  moved({ ok, parameters }) {
    const chat = (parameters as { migrate_to_chat_id?: unknown } | undefined)?.migrate_to_chat_id
    return ok === false && Number.isSafeInteger(chat) ? { chat: String(chat) } : null
  },
  waits: ({ parameters }) => (parameters as { retry_after?: number } | undefined)?.retry_after,
}

const TELEGRAM_TEXT = 4096
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
    url: secretField(
      'Webhook address',
      'In the channel’s settings: Integrations, Webhooks, Copy webhook URL.',
      WEB_ADDRESS,
    ),
  },
  request: (settings, notice, id) => {
    const { picture } = notice
    const url = waitingFor(settings['url'] ?? '')
    const message = {
      // A message must not ping everybody because a script says so.
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: escapedTo(notice.title, 256),
          // The title leads to the page.
          description: fitted({ ...notice, url: null }, 3500, markdown, ({ length }) => length <= 4096),
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
  refuses: hasField('message'),
  waits: ({ retry_after: seconds }) => (typeof seconds === 'number' ? seconds : undefined),
}

/** An address that is none is left to the rules for addresses. */
function waitingFor(address: string): string {
  const url = URL.parse(address)
  url?.searchParams.set('wait', 'true')
  return url?.href ?? address
}

/** Signs with a meaning, and what pings everybody in servers that take what Slack takes. */
const escapeSlack = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/@(?=(?:all|channel|everyone|here)\b)/gi, '@\u200b')

/**
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks: a header of 150 characters. What was written
 * goes as plain and rich text, since Slack's own marks (`*_~`) cannot be escaped; `text` is for notifications, and all that
 * Mattermost and Rocket.Chat show.
 */
export const slack: ChannelKind = {
  label: 'Slack',
  address: 'url',
  fields: {
    url: secretField(
      'Webhook address',
      'Of an app with Incoming Webhooks; Mattermost and Rocket.Chat take the same.',
      WEB_ADDRESS,
    ),
  },
  request: ({ url = '' }, notice) => {
    const pieces = fitted(notice, 2500, (all) => all, fitsSlack)
    const elements = pieces.map((piece) => ({ type: piece.url === undefined ? 'text' : 'link', ...piece }))
    const marked = pieces.map((piece) =>
      piece.url === undefined ? escapeSlack(piece.text) : `<${piece.url}|${piece.text}>`,
    )
    const header = { type: 'plain_text', text: cutLine(notice.title, 150), emoji: false }
    return jsonRequest(url, {
      text: `${escapeSlack(cutLine(notice.title, 500))}: ${marked.join('')}`,
      blocks: [
        { type: 'header', text: header },
        ...(elements.length > 0
          ? [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }]
          : []),
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
  // Slack names a reason such as no_service; the others answer JSON.
  refuses: ({ excerpt }) => /^\s*(?:[a-z]+(?:_[a-z]+)+\s*$|\{)/.test(excerpt),
}

/** Slack refuses blocks that are longer than 13,200 characters together. */
const fitsSlack = (pieces: readonly Piece[]): boolean => JSON.stringify(pieces).length <= 9000

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
    token: secretField(
      'Access token',
      'Of the account that writes; in Element under Help & About.',
      HEADER_TOKEN,
    ),
    room: {
      label: 'Room',
      hint: 'Its internal id, which begins with an exclamation mark. The account must have joined it.',
      required: true,
      form: [/^!\S+$/, 'an internal id that begins with !'],
    },
  },
  request: (settings, notice, id) => {
    const text = shortened(notice, 8000)
    const shown = fitted(notice, 8000, html('<br>'), ({ length }) => length <= 24_000)
    return {
      ...jsonRequest(
        eventUrl(settings, id),
        {
          msgtype: 'm.text',
          body: `${notice.title}\n${text}${notice.url === null ? '' : `\n${notice.url}`}${linkLines(notice)}`,
          format: 'org.matrix.custom.html',
          formatted_body: `<b>${escapeHtml(notice.title)}</b><br>${shown}`,
          // Without this `@room` and names in the text would ping.
          'm.mentions': {},
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
  refuses: hasField('errcode'),
  waits: ({ retry_after_ms: ms }) => (typeof ms === 'number' ? ms / 1000 : undefined),
}

const eventUrl = (settings: Settings, id: string): string =>
  `${serverOf(settings)}/_matrix/client/v3/rooms/${encodeURIComponent(settings['room'] ?? '')}/send/m.room.message/${id}`
