// `chartroom update --check`: asks whether there is a newer release, and says how one that is downloaded is verified. Nothing
// else in the product asks, and nothing is fetched or changed.

import { Problem } from '../lib/problem.ts'
import { askGuarded, netOf } from '../server/guarded-net.ts'
import { readConfig } from '../server/config.ts'
import { parseFlags, UsageError, type Command } from './command.ts'
import { configFlags } from './config-command.ts'

/** The newest release, as GitHub's API has it. */
interface Release {
  readonly version: string
  /** `2026-11-28`; empty where it is not said. */
  readonly date: string
  readonly page: string
  readonly files: readonly string[]
}

export const updateCommand: Command = {
  name: 'update',
  usage: '--check [--updates ADDRESS]',
  summary: 'Ask whether there is a newer release, and how to verify it.',
  help: () =>
    [
      '  --check            Ask; without it nothing happens, since nothing is ever fetched or changed by itself',
      '  --updates ADDRESS  Whom to ask (UPDATES in the environment); off = nobody',
      '',
      'Exit code: 0 the answer is there, 1 there is none.',
    ].join('\n'),
  run: async ({ args, environment, version, print, warn }) => {
    const { check, ...flags } = parseFlags(args, { ...configFlags(), check: { type: 'boolean' } })
    if (!check)
      throw new UsageError(
        'Chartroom does not update itself. `chartroom update --check` asks whether there is a newer release.',
      )
    const { config, mistakes } = readConfig(flags, environment)
    const mistake = mistakes.find((text) =>
      /^(?:--updates|UPDATES|--webhook-allow|WEBHOOK_ALLOW):/.test(text),
    )
    if (mistake !== undefined) throw new UsageError(mistake)
    if (config.UPDATES === null) {
      warn('UPDATES is off, so nobody is asked whether there is a newer release.')
      return 1
    }
    try {
      const release = await newest(config.UPDATES, askGuarded(netOf(config)))
      for (const line of linesOf(release, version, config.UPDATES)) print(line)
      return 0
    } catch (error) {
      warn(sentenceOf(error, config.UPDATES))
      return 1
    }
  },
}

async function newest(address: string, ask: ReturnType<typeof askGuarded>): Promise<Release> {
  const headers = { accept: 'application/vnd.github+json', 'user-agent': 'chartroom' }
  const response = await ask(address, { method: 'GET', headers, body: null })
  const { host } = new URL(address)
  if (response.status === 404) throw new Error(`${host} knows of no release at ${address}`)
  if (response.status === 403 || response.status === 429)
    throw new Error(`${host} has been asked too often from here; try again in an hour`)
  if (response.status !== 200) throw new Error(`${host} answers ${response.status}`)
  const release = releaseOf(await response.text())
  if (release === null) throw new Error(`what ${host} answers is no release as GitHub's API has them`)
  return release
}

/** Everything in it is shown on a terminal, so only what looks as it should is taken. */
function releaseOf(text: string): Release | null {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    return null
  }
  if (typeof answer !== 'object' || answer === null) return null
  const field = (name: string, shape: RegExp) => {
    const value = (answer as Record<string, unknown>)[name]
    return typeof value === 'string' ? shape.exec(value)?.[1] : undefined
  }
  const version = field('tag_name', /^v?(\d{1,6}\.\d{1,6}\.\d{1,6})$/)
  if (version === undefined) return null
  const { assets } = answer as { readonly assets?: unknown }
  const names = Array.isArray(assets) ? assets.map((one: { name?: unknown } | null) => one?.name) : []
  return {
    version,
    date: field('published_at', /^(\d{4}-\d{2}-\d{2})/) ?? '',
    page: field('html_url', /^(https?:\/\/[\w./~:-]+)$/) ?? '',
    files: names.filter((name) => typeof name === 'string' && /^[\w.-]+$/.test(name)) as string[],
  }
}

function linesOf({ version, date, page, files }: Release, own: string, address: string): string[] {
  const at = page && `: ${page}`
  const release = `${version}${date && ` of ${date}`}`
  const order = compared(version, own)
  if (order === 0) return [`This is the newest release, ${release}${at}`]
  if (order < 0) return [`This is ${own}, newer than the newest release, ${release}${at}`]
  const os = process.platform === 'win32' ? 'windows' : process.platform
  const file = files.find((name) => name.includes(`-${os}-${process.arch}.`)) ?? 'FILE'
  const repository = /\/repos\/([\w.-]+\/[\w.-]+)\/releases\//.exec(address)?.[1]
  return [
    `${release} is newer than this ${own}${at}`,
    'Nothing was fetched or changed. What you download there is verified, in its folder, by its sum and by who built it:',
    `  ${sumCheck(os, file)}`,
    `  gh attestation verify ${file} --repo ${repository ?? 'OWNER/NAME'}`,
  ]
}

/** How its sum is looked at with what the system has: macOS brings another program than Linux, and Windows shows the sum alone. */
export function sumCheck(os: string, file: string): string {
  if (os === 'windows') return `Get-FileHash ${file}    # in PowerShell: the sum of its line in SHA256SUMS`
  return `${os === 'darwin' ? 'shasum -a 256' : 'sha256sum'} --check --ignore-missing SHA256SUMS`
}

/** Below 0: `a` is older. */
function compared(a: string, b: string): number {
  const [ofA, ofB] = [a, b].map((text) => text.split('.').map(Number))
  return ofA?.map((part, i) => part - (ofB?.[i] ?? 0)).find((difference) => difference !== 0) ?? 0
}

function sentenceOf(error: unknown, address: string): string {
  const unknown = 'Whether there is a newer release cannot be told'
  if (error instanceof Problem) return `${unknown} from ${address}. ${error.message}`
  return `${unknown}: ${error instanceof Error ? error.message : String(error)}.`
}
