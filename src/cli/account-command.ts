// `chartroom account export` and `import`: everything that somebody owns, out of a running server as one file, and into one.
//
// It goes through the server, as the page does, since what comes in has to pass the server's checks.

import { createWriteStream, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Writable } from 'node:stream'
import {
  cameText,
  foundFiles,
  moved,
  type FoundFile,
  type Maker,
  type MovedFile,
} from '../market/files/moving-in.ts'
import {
  onlyOf,
  parseArguments,
  subcommands,
  UsageError,
  type Command,
  type CommandContext,
  switched,
  valued,
} from './command.ts'
import { formatBytes } from './table.ts'

const FLAGS = { ...valued('server', 'token'), ...switched('bars') }

export const accountCommand: Command = {
  name: 'account',
  usage: 'export FILE | import FILE | move-in FILE…',
  summary: 'Take everything you own out of a server as one file, or into one; or move in from TradingView.',
  help: () =>
    [
      '  account export FILE.jsonl.gz',
      '  account import FILE.jsonl.gz   Nothing that is there is changed; to import twice is harmless',
      '  account move-in FILE…          What TradingView lets you export: watchlists, alerts and their log, charts, lists of',
      '                                 trades, Pine files; folders and zips of them, too. Says what came, and what could not',
      '',
      '  --server URL   http://127.0.0.1:3000 if not given (CHARTROOM_SERVER in the environment)',
      '  --token TOKEN  With every scope, as `chartroom token create --scope all` makes it (CHARTROOM_TOKEN in the environment,',
      '                 where other users of the machine do not see it)',
      '  --bars         Also the bars that you imported for yourself',
      '',
      'Secrets of channels, webhooks and inboxes, provider keys, tokens and passwords are not in the file.',
    ].join('\n'),
  run: subcommands('account', {
    export: exportAccount,
    import: importAccount,
    'move-in': moveIn,
  }),
}

interface Refusal {
  readonly kind: string
  readonly name: string
  readonly message: string
}

interface Answer {
  readonly error?: { readonly message: string }
  readonly imported?: Readonly<Record<string, number>>
  readonly present?: Readonly<Record<string, number>>
  readonly refused?: readonly Refusal[]
}

async function exportAccount(context: CommandContext): Promise<number> {
  const { path, flags, ask } = asked(context)
  if (existsSync(path)) throw new UsageError(`${path} is there already. Name a new file.`)
  const response = await ask(`/api/platform/export${flags.bars === true ? '?bars=yes' : ''}`, {})
  if (!response.ok || !response.body) return refused(context, response)
  const partial = `${path}.partial`
  try {
    let bytes = 0
    const counting = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length
        controller.enqueue(chunk)
      },
    })
    const file = createWriteStream(partial, { mode: 0o600 })
    await response.body.pipeThrough(counting).pipeTo(Writable.toWeb(file) as WritableStream<Uint8Array>)
    renameSync(partial, path)
    context.print(`${path}: ${formatBytes(bytes)}.`)
    return 0
  } finally {
    rmSync(partial, { force: true })
  }
}

async function importAccount(context: CommandContext): Promise<number> {
  const { path, ask } = asked(context)
  if (!existsSync(path)) throw new UsageError(`There is no file ${path}.`)
  const headers = { 'content-type': 'application/gzip' }
  const response = await ask('/api/platform/import', { method: 'POST', headers, body: Bun.file(path) })
  if (!response.ok) return refused(context, response)
  const { imported = {}, present = {}, refused: left = [] } = (await response.json()) as Answer
  const told = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(', ') || 'nothing'
  context.print(`Imported: ${told(imported)}.`)
  if (Object.keys(present).length > 0) context.print(`There already: ${told(present)}.`)
  for (const { kind, name, message } of left) context.warn(`Not taken: ${kind} "${name}": ${message}`)
  return left.length === 0 ? 0 : 1
}

/** Folders are gone through as far as this. */
const FILES_MAX = 2000

async function moveIn(context: CommandContext): Promise<number> {
  const { positionals, ask } = asked(context, 'many')
  const files = positionals.flatMap(filesAt)
  if (files.length > FILES_MAX)
    throw new UsageError(`There are more than ${FILES_MAX} files. Give fewer at a time.`)
  let isWhole = true
  for (const path of files) {
    const bytes = new Uint8Array(await Bun.file(path).arrayBuffer())
    for (const found of await foundFiles([{ name: basename(path), bytes }])) {
      const { name, kind, came, left } =
        found.kind === 'bars' ? await movedBars(ask, found) : await moved(found, makerOf(ask))
      context.print(`${name}: ${cameText({ kind, came }) || (left.length > 0 ? kind : 'nothing')}`)
      for (const why of left) context.warn(`  Not taken: ${why}`)
      isWhole &&= left.length === 0
    }
  }
  return isWhole ? 0 : 1
}

function filesAt(path: string): string[] {
  if (!existsSync(path)) throw new UsageError(`There is no file ${path}.`)
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/(?:^|[/\\])\./.test(name))
    .map((name) => join(path, name))
    .filter((one) => statSync(one).isFile())
    .toSorted()
}

type Ask = (address: string, init: RequestInit) => Promise<Response>

async function answered(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const answer = (await response.json().catch(() => ({}))) as Answer & Readonly<Record<string, unknown>>
  if (!response.ok) throw new Error(answer.error?.message ?? `The server answered ${response.status}.`)
  return answer
}

function makerOf(ask: Ask): Maker {
  const send = async (operation: string, body: object, more: Record<string, string> = {}) => {
    const [method = '', address = ''] = operation.split(' ')
    const headers = { 'content-type': 'application/json', ...more }
    return answered(await ask(address, { method, headers, body: JSON.stringify(body) }))
  }
  return {
    make: async ({ operation, body }, key) =>
      String((await send(operation, body, { 'idempotency-key': key }))['id']),
    pause: (id) => send(`PATCH /api/platform/alerts/${id}`, { state: 'paused' }),
  }
}

async function movedBars(ask: Ask, { name, kind, bytes }: FoundFile): Promise<MovedFile> {
  const send = async (what: string, query: Record<string, string>) => {
    const address = `/api/platform/bars/${what}?${new URLSearchParams({ ...query, fileName: name }).toString()}`
    const headers = { 'content-type': 'application/octet-stream' }
    return answered(await ask(address, { method: 'POST', headers, body: bytes }))
  }
  try {
    const market = (await send('inspect', {}))['market'] as Record<'exchange' | 'symbol' | 'interval', string>
    if (Object.values(market).includes(''))
      return {
        name,
        kind,
        came: [],
        left: ['Nothing says of which market it is: `chartroom bars import` takes --symbol and --interval.'],
      }
    const { inserted, updated } = await send('import', market)
    const { exchange, symbol, interval } = market
    return {
      name,
      kind,
      came: [`${Number(inserted) + Number(updated)} of ${exchange}:${symbol} ${interval}`],
      left: [],
    }
  } catch (error) {
    return { name, kind, came: [], left: [error instanceof Error ? error.message : String(error)] }
  }
}

async function refused({ warn }: CommandContext, response: Response): Promise<number> {
  const answer = (await response.json().catch(() => ({}))) as Answer
  warn(answer.error?.message ?? `The server answered ${response.status}.`)
  return 1
}

function asked({ args, environment }: CommandContext, files: 'one' | 'many' = 'one') {
  const { flags, positionals } = parseArguments(args, FLAGS)
  const path = files === 'one' ? onlyOf(positionals, 'file') : (positionals[0] ?? '')
  if (path === '') throw new UsageError('Name a file.')
  const server = flags.server ?? environment['CHARTROOM_SERVER'] ?? 'http://127.0.0.1:3000'
  const token = flags.token ?? environment['CHARTROOM_TOKEN'] ?? ''
  if (token === '')
    throw new UsageError(
      'Give a token with --token, or in CHARTROOM_TOKEN: `chartroom token create --scope all` makes one.',
    )
  if (!/^https?:$/.test(URL.parse(server)?.protocol ?? ''))
    throw new UsageError('--server takes an address like http://127.0.0.1:3000.')
  const ask = async (address: string, { headers, ...init }: RequestInit) => {
    try {
      return await fetch(server.replace(/\/$/, '') + address, {
        ...init,
        headers: { ...(headers as Record<string, string>), authorization: `Bearer ${token}` },
      })
    } catch (error) {
      throw new UsageError(
        `${server} does not answer (${error instanceof Error ? error.message : String(error)}). Is the server running?`,
      )
    }
  }
  return { path, positionals, flags, ask }
}
