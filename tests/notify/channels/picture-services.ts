// Services that take a picture with a message, played by what their documentation says: each reads its own format, refuses
// what it would refuse, in its own words, and remembers what a person would see.

import { decode } from './encoded-words.ts'

export interface Shown {
  readonly text: string
  readonly picture: Uint8Array | string | null
}

export interface Services {
  /** Messages that arrived, in order. */
  readonly shown: Shown[]
  /** Method and path of every request. */
  readonly asked: string[]
  /** So many answers are lost on their way. */
  loses: number
  /** Answers instead of the service, if it answers at all. */
  instead: (request: Request) => Response | null | Promise<Response | null>
  answer(request: Request): Promise<Response>
}

const isPng = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex', 0, 8) === '89504e470d0a1a0a'

type Form = Awaited<ReturnType<Request['formData']>>

async function fileOf(form: Form, name: string): Promise<Uint8Array | null> {
  const file = form.get(name)
  return file instanceof Blob ? new Uint8Array(await file.arrayBuffer()) : null
}

function textOf(form: Form, name: string): string {
  const text = form.get(name)
  return typeof text === 'string' ? text : ''
}

export function pictureServices(): Services {
  const shown: Shown[] = []
  const events = new Map<string, string>()
  const asked: string[] = []

  const refused = (status: number, body: object) => Response.json(body, { status })

  async function telegram(request: Request, method: string): Promise<Response> {
    const bad = (description: string) =>
      refused(400, { ok: false, error_code: 400, description: `Bad Request: ${description}` })
    // Characters are counted once the marks are read.
    const visible = (html: string) =>
      html.replace(/<[^>]*>/g, '').replace(/&(?:lt|gt|amp|quot);/g, '&').length
    if (method === 'sendPhoto') {
      const form = await request.formData()
      const photo = await fileOf(form, 'photo')
      const caption = textOf(form, 'caption')
      if (!textOf(form, 'chat_id')) return bad('chat_id is empty')
      if (!photo || !isPng(photo)) return bad('IMAGE_PROCESS_FAILED')
      const size = new DataView(photo.buffer, photo.byteOffset)
      const [width, height] = [size.getUint32(16), size.getUint32(20)]
      if (width + height > 10_000 || width / height > 20) return bad('PHOTO_INVALID_DIMENSIONS')
      if (visible(caption) > 1024) return bad('message caption is too long')
      shown.push({ text: caption, picture: photo })
    } else {
      const { chat_id: chat, text } = (await request.json()) as Record<string, string>
      if (!chat || !text) return bad('message text is empty')
      if (visible(text) > 4096) return bad('message is too long')
      shown.push({ text, picture: null })
    }
    return Response.json({ ok: true, result: { message_id: shown.length } })
  }

  async function discord(request: Request): Promise<Response> {
    const isForm = request.headers.get('content-type')?.startsWith('multipart/form-data') === true
    const form = isForm ? await request.formData() : null
    const message = (form ? JSON.parse(textOf(form, 'payload_json')) : await request.json()) as {
      embeds: { title: string; description: string; image?: { url: string } }[]
      attachments?: { id: number; filename: string }[]
    }
    const [embed] = message.embeds
    const named = embed?.image?.url.replace('attachment://', '') ?? null
    const file = form?.get('files[0]')
    const isThere =
      named === null || (file instanceof File && file.name === named && message.attachments?.[0]?.id === 0)
    if (!embed || !isThere) return refused(400, { message: 'Invalid Form Body', code: 50_035 })
    const picture = form ? await fileOf(form, 'files[0]') : null
    shown.push({ text: `${embed.title}\n${embed.description}`, picture })
    const isWaited = new URL(request.url).searchParams.get('wait') === 'true'
    return isWaited ? Response.json({ id: '1', type: 0 }) : new Response(null, { status: 204 })
  }

  async function ntfy(request: Request): Promise<Response> {
    if (request.method === 'POST') {
      const { topic, title, message } = (await request.json()) as Record<string, string>
      if (!topic) return refused(400, { code: 40_009, http: 400, error: 'invalid request: topic invalid' })
      shown.push({ text: `${title}\n${message}`, picture: null })
      return Response.json({ id: 'x' })
    }
    for (const [, value] of request.headers)
      if (!/^[\t -~]*$/.test(value)) throw new Error('a header must be ASCII')
    const header = (name: string) => decode(request.headers.get(name) ?? '').trim()
    const file = new Uint8Array(await request.arrayBuffer())
    const actions = header('x-actions')
    if (actions !== '' && !Array.isArray(JSON.parse(actions)))
      return refused(400, { code: 40_018, http: 400, error: 'invalid request: actions invalid' })
    if (!header('x-filename')) return refused(400, { code: 40_001, http: 400, error: 'no file' })
    shown.push({ text: `${header('x-title')}\n${header('x-message')}\n${actions}`, picture: file })
    return Response.json({ id: 'x' })
  }

  async function pushover(request: Request): Promise<Response> {
    const isForm = request.headers.get('content-type')?.startsWith('multipart/form-data') === true
    const form = isForm ? await request.formData() : null
    const fields = (form ? Object.fromEntries(form) : await request.json()) as Record<string, string>
    const picture = form ? await fileOf(form, 'attachment') : null
    const errors = [
      ...(fields['message'] ? [] : ['message cannot be blank']),
      ...((fields['message']?.length ?? 0) > 1024 ? ['message is too long'] : []),
      ...(picture && picture.length > 5_242_880 ? ['attachment is too large'] : []),
      ...(picture && !isPng(picture) ? ['attachment is not an image'] : []),
    ]
    if (errors.length > 0) return refused(400, { status: 0, errors })
    shown.push({ text: `${fields['title']}\n${fields['message']}`, picture })
    return Response.json({ status: 1 })
  }

  async function matrix(request: Request, path: string): Promise<Response> {
    if (request.headers.get('authorization') !== 'Bearer syt_x')
      return refused(401, { errcode: 'M_UNKNOWN_TOKEN', error: 'Unrecognised access token.' })
    if (path === '/_matrix/media/v3/upload') {
      const file = new Uint8Array(await request.arrayBuffer())
      if (request.headers.get('content-type') !== 'image/png' || !isPng(file)) throw new Error('no PNG')
      return Response.json({ content_uri: `mxc://matrix.example/${file.length}` })
    }
    const id = path.split('/').at(-1) ?? ''
    // A transaction id that came before is answered as it was then, and changes nothing.
    if (!events.has(id)) {
      const event = (await request.json()) as Record<string, string> & { info?: { w: number; size: number } }
      if (
        event['msgtype'] === 'm.image' &&
        (event.info?.w !== 1600 || !event['url']?.endsWith(`/${event.info.size}`))
      )
        return refused(400, { errcode: 'M_BAD_JSON', error: 'wrong info' })
      events.set(id, `$event${events.size}`)
      shown.push({ text: event['body'] ?? '', picture: event['url'] ?? null })
    }
    return Response.json({ event_id: events.get(id) })
  }

  async function slack(request: Request): Promise<Response> {
    const { text, blocks } = (await request.json()) as {
      text: string
      blocks: { type: string; image_url?: string; alt_text?: string }[]
    }
    const image = blocks.find(({ type }) => type === 'image')
    if (image && (!image.image_url || image.image_url.length > 3000 || !image.alt_text))
      return new Response('invalid_blocks', { status: 400 })
    shown.push({ text, picture: image?.image_url ?? null })
    return new Response('ok')
  }

  async function gotify(request: Request): Promise<Response> {
    const message = (await request.json()) as {
      message: string
      extras?: { 'client::notification'?: { bigImageUrl?: string } }
    }
    const picture = message.extras?.['client::notification']?.bigImageUrl ?? null
    shown.push({ text: message.message, picture })
    return Response.json({ id: 1 })
  }

  const services: Services = {
    shown,
    asked,
    loses: 0,
    instead: () => null,
    async answer(request) {
      const { hostname, pathname } = new URL(request.url)
      asked.push(`${request.method} ${pathname}`)
      const other = await services.instead(request)
      if (other) return other
      if (hostname === 'api.telegram.org') return telegram(request, pathname.split('/').at(-1) ?? '')
      if (hostname === 'discord.example') return discord(request)
      if (hostname === 'ntfy.sh') return ntfy(request)
      if (hostname === 'api.pushover.net') return pushover(request)
      if (hostname === 'matrix.example') return matrix(request, pathname)
      if (hostname === 'hooks.slack.example') return slack(request)
      if (hostname === 'gotify.example') return gotify(request)
      shown.push({ text: await request.text(), picture: null })
      return new Response(null, { status: 204 })
    },
  }
  return services
}
