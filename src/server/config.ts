// Configuration: one table, from which the command line, the environment, `chartroom config`, `--help` and the README are made.
//
// `PORT` in the environment is `--port` on the command line, which wins. Everything is checked at the start, with one
// sentence for each mistake, so that a typing error shows then and not when the setting is first used.

import { join } from 'node:path'
import packageFile from '../../package.json' with { type: 'json' }
import { ALERTS_PER_USER } from '../notify/alerts/alert.ts'
import { DEFAULT_RATES, RATES, type Rate, type RatePolicies } from '../http/limits.ts'
import { addressList } from '../http/peer.ts'
import { LOG_LEVELS } from '../lib/log.ts'
import { RUNS_MAX } from '../work/runs/records.ts'
import { KEY_FILE } from '../store/instance-key.ts'
import { parsePlace } from '../store/backup/place.ts'
import { parseBucket } from '../store/bucket-address.ts'

/** Turns text into a value; throws a sentence that says what was expected. */
type Parse<T> = (text: string) => T

interface Option<T> {
  readonly default: string
  readonly help: string
  readonly parse: Parse<T>
  /** Hidden by `chartroom config`. */
  readonly secret?: boolean
}

const option = <T>(fallback: string, parse: Parse<T>, help: string, secret = false): Option<T> => ({
  default: fallback,
  parse,
  help,
  secret,
})

const integer =
  (low: number, high: number): Parse<number> =>
  (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < low || value > high)
      throw new Error(`expected a whole number from ${low} to ${high}`)
    return value
  }

const choice =
  <const V extends string>(values: readonly V[]): Parse<V> =>
  (text) => {
    const found = values.find((value) => value === text)
    if (found === undefined) throw new Error(`expected ${values.join(' or ')}`)
    return found
  }

const text: Parse<string> = (value) => value

const list: Parse<readonly string[]> = (value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

const optional =
  <T>(parse: Parse<T>): Parse<T | null> =>
  (value) =>
    value === '' ? null : parse(value)

const origin: Parse<string> = (value) => {
  const url = URL.parse(value)
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search !== '')
    throw new Error('expected an address like https://charts.example.com')
  return url.origin
}

/** An origin, with a path if a proxy serves us below one; without a final slash. */
const publicAddress: Parse<string> = (value) => {
  const url = URL.parse(value)
  const plain =
    url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' && url.username === ''
  if (!plain || !/^[\w/.~-]*$/.test(url.pathname) || url.pathname.includes('//'))
    throw new Error('expected an address like https://charts.example.com or https://example.com/charts')
  return url.origin + url.pathname.replace(/\/$/, '')
}

const origins: Parse<readonly string[]> = (value) =>
  list(value).map((item) => (item === '*' ? item : origin(item)))

const addresses: Parse<readonly string[]> = (value) => {
  const entries = list(value)
  addressList(entries)
  return entries
}

const issuer: Parse<string> = (value) => {
  const url = URL.parse(value)
  const plain = url && url.search === '' && url.hash === '' && url.username === ''
  if (!plain || !/^https?:$/.test(url.protocol) || value.includes('/.well-known/'))
    throw new Error(
      'expected the issuer as the provider names it, like https://login.example.com/realms/home, without /.well-known/…',
    )
  return value
}

const nonEmpty: Parse<string> = (value) => {
  if (value.trim() === '') throw new Error('expected a name')
  return value.trim()
}

const smtp: Parse<string> = (value) => {
  if (!/^smtps?:$/.test(URL.parse(value)?.protocol ?? ''))
    throw new Error('expected an address like smtp://user:password@mail.example.com:587')
  return value
}

const updates: Parse<string | null> = (value) => {
  if (value === 'off') return null
  if (!/^https?:$/.test(URL.parse(value)?.protocol ?? ''))
    throw new Error(`expected off, or an address like ${RELEASES}`)
  return value
}

/** Where GitHub's API tells the newest release of the project that `package.json` names. */
const RELEASES = `${packageFile.repository.url.replace(/^git\+https:\/\/github\.com\/(.*)\.git$/, 'https://api.github.com/repos/$1')}/releases/latest`

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

export const databaseAddress: Parse<string> = (value) => {
  const url = URL.parse(value)
  if (!url || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw new Error(
      'expected an address like postgres://user:password@db.example.com:5432/chartroom, with spaces, @ and / in a password as %20, %40 and %2F',
    )
  const mode = url.searchParams.get('sslmode')
  if (mode !== null && !SSL_MODES.includes(mode))
    throw new Error(`expected sslmode in the address to be one of ${SSL_MODES.join(', ')}`)
  return value
}

const bucketAddress: Parse<string> = (value) => {
  parseBucket(value)
  return value
}

const UNITS_MS = { m: 60_000, h: 3600_000, d: 86_400_000 } as const

/** `30m`, `12h`, `7d`, as milliseconds. */
const duration =
  (leastMs: number, least: string): Parse<number> =>
  (value) => {
    const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(value) ?? []
    const ms = Number(count) * UNITS_MS[(unit ?? 'm') as keyof typeof UNITS_MS]
    if (!(ms >= leastMs)) throw new Error(`expected a time like 30m, 12h or 7d, at least ${least}`)
    return ms
  }

const optionalAddress: Parse<string> = (value) => {
  if (value !== '' && !/^[^\s@<>]+@[^\s@<>]+$/.test(value))
    throw new Error('expected an address like charts@example.com')
  return value
}

const OPTIONS = {
  PORT: option('3000', integer(0, 65_535), 'Port to listen on; 0 = any that is free'),
  HOST: option('127.0.0.1', text, 'Address to listen on; 0.0.0.0 = all'),
  DATA_DIR: option('./data', text, 'Folder of the database and the key file'),
  STORE: option(
    '',
    optional(databaseAddress),
    'Database instead of the folder, postgres://user:password@host:5432/name (PostgreSQL 15 or later)',
    true,
  ),
  BARS: option(
    '',
    optional(bucketAddress),
    'S3-compatible bucket for full chunks of bars beside STORE, s3://KEY:SECRET@bucket/prefix?endpoint=https://…&region=…',
    true,
  ),
  BACKUP: option(
    '',
    optional(parsePlace),
    'Where the database of DATA_DIR is copied to continuously: s3://KEY:SECRET@bucket/prefix?endpoint=https://…&region=…, or a folder; instance.key is not copied',
    true,
  ),
  BACKUP_EVERY: option('1d', duration(600_000, '10m'), 'How often a new snapshot is made in BACKUP'),
  BACKUP_KEEP: option('7d', duration(3600_000, '1h'), 'How far back BACKUP can be restored to'),
  KEY_FILE: option(
    '',
    text,
    'File of the key that secrets are sealed with; default instance.key in DATA_DIR; the same for all servers on one STORE',
  ),
  LEASE_SECONDS: option(
    '4',
    integer(2, 600),
    'How long a server that shares a database may be silent before the others do its work',
  ),
  PUBLIC_URL: option(
    '',
    optional(publicAddress),
    'Address under which browsers reach the server, with its path if it has one',
  ),
  ALLOWED_HOSTS: option('', list, 'Further host names the server answers to; * = any'),
  TRUSTED_PROXIES: option(
    '',
    addresses,
    'Proxies whose X-Forwarded-* headers count: loopback, private, addresses, ranges',
  ),
  CORS_ORIGINS: option('', origins, 'Sites whose pages may call the API with a token; * = any'),
  SIGNUP: option('closed', choice(['closed', 'open']), 'Who may sign up after the owner: open = everybody'),
  OIDC_ISSUER: option(
    '',
    optional(issuer),
    'Identity provider (OpenID Connect) to sign in by beside passwords, https://login.example.com/realms/home',
  ),
  OIDC_CLIENT_ID: option('', text, 'What the identity provider calls this server'),
  OIDC_CLIENT_SECRET: option(
    '',
    text,
    'The secret that the identity provider has given for it; empty = none, PKCE alone',
    true,
  ),
  OIDC_NAME: option('', text, 'What the sign-in page calls the identity provider; default its host'),
  OIDC_SCOPES: option('openid,email,profile', list, 'What the identity provider is asked for'),
  OIDC_SIGNUP: option(
    'closed',
    choice(['closed', 'open']),
    'Whether somebody whom the identity provider names, and nobody here knows, gets an account',
  ),
  OIDC_GROUPS_CLAIM: option(
    'groups',
    nonEmpty,
    'The claim that lists the groups of a user; dots lead into objects, as in realm_access.roles',
  ),
  OIDC_GROUPS: option('', list, 'Groups whose members may sign in by the identity provider; empty = all'),
  OIDC_ADMIN_GROUPS: option(
    '',
    list,
    'Groups whose members are admins, and all others members, from each sign-in on; empty = roles are given here',
  ),
  SMTP_URL: option(
    '',
    optional(smtp),
    'Mail server for alerts and support, smtp://user:password@host:587',
    true,
  ),
  MAIL_FROM: option('', optionalAddress, 'Sender of mails; default chartroom@ the host of PUBLIC_URL'),
  WEBHOOK_ALLOW: option('', list, 'Opens blocked webhook targets: loopback, private, ranges, host names'),
  FEEDS: option(
    'on',
    choice(['on', 'off']),
    'Whether followed series are fetched from providers; off = no request leaves',
  ),
  UPDATES: option(
    RELEASES,
    updates,
    'Whom `chartroom update --check` asks for the newest release; nobody else asks; off = not even that',
  ),
  WORKERS: option('0', integer(0, 256), 'Script worker threads; 0 = processors less one'),
  SCRIPT_TIME_MS: option('60000', integer(100, 3_600_000), 'Processor time a script may take'),
  SCRIPT_REQUESTS: option('64', integer(1, 64), 'Different calls of request.*() a script may make'),
  SCRIPT_MEMORY_MB: option('1024', integer(64, 1_048_576), 'Most memory a script may take'),
  SCRIPT_ANSWER_MB: option('256', integer(1, 1_048_576), 'Largest report and tracks a script may make'),
  MAX_STORAGE_MB: option(
    '0',
    integer(0, 1_048_576_000),
    'Most space of the database; 0 = as the disk allows',
  ),
  MAX_BACKTESTS: option(
    String(RUNS_MAX),
    integer(0, 1_000_000_000),
    'Backtests a user may keep; the oldest not pinned make room; 0 = no limit',
  ),
  MAX_ALERTS: option(String(ALERTS_PER_USER), integer(0, 1_000_000), 'Most alerts of a user; 0 = no limit'),
  METRICS: option('local', choice(['local', 'open', 'off']), 'Who may read /metrics: local = this machine'),
  LOG_LEVEL: option('info', choice(LOG_LEVELS), 'Least important lines to log'),
} as const

type Options = typeof OPTIONS
type OptionName = keyof Options

/** `RATE_SEARCH=120` is a number of requests per window; the windows' lengths are fixed. */
const rateOption = (rate: Rate): `RATE_${string}` => `RATE_${rate.toUpperCase()}`

export type Config = { readonly [N in OptionName]: ReturnType<Options[N]['parse']> } & {
  readonly rates: RatePolicies
}

export interface ConfigRow {
  readonly name: string
  readonly flag: string
  readonly default: string
  readonly help: string
  readonly secret: boolean
}

/** The file of the key that secrets are sealed with. */
export function keyPath({ KEY_FILE: path, DATA_DIR }: Pick<Config, 'KEY_FILE' | 'DATA_DIR'>): string {
  return path === '' ? join(DATA_DIR, KEY_FILE) : path
}

/** Every setting, in the order to show them. */
export function configRows(): ConfigRow[] {
  const rates = RATES.map((rate) => {
    const { quota, windowSeconds } = DEFAULT_RATES[rate]
    const per = windowSeconds === 3600 ? 'an hour' : 'a minute'
    return [
      rateOption(rate),
      option(String(quota), text, `Limit of ${rate} requests ${per}; 0 = none`),
    ] as const
  })
  return [...Object.entries<Option<unknown>>(OPTIONS), ...rates].map(([name, row]) => {
    const { default: fallback, help, secret = false } = row
    return { name, flag: flagOf(name), default: fallback, help, secret }
  })
}

const flagOf = (name: string) => `--${name.toLowerCase().replaceAll('_', '-')}`

export interface ConfigResult {
  readonly config: Config
  /** Where each value came from, as text. */
  readonly values: readonly (ConfigRow & {
    readonly value: string
    readonly from: 'flag' | 'environment' | 'default'
  })[]
  /** One sentence for each mistake. Use the config only if there are none. */
  readonly mistakes: readonly string[]
}

/** `flags` by flag name without the dashes (`data-dir`), `environment` by name. */
export function readConfig(
  flags: Readonly<Record<string, string | undefined>>,
  environment: Readonly<Record<string, string | undefined>>,
): ConfigResult {
  const mistakes: string[] = []
  const values = configRows().map((row) => {
    const flag = flags[row.flag.slice(2)]
    const set = environment[row.name]
    const from = flag !== undefined ? 'flag' : set !== undefined && set !== '' ? 'environment' : 'default'
    return {
      ...row,
      value: (from === 'flag' ? flag : from === 'environment' ? set : undefined) ?? row.default,
      from,
    } as const
  })
  const valueOf = new Map(values.map((row) => [row.name, row]))
  function read<T>(name: string, parse: Parse<T>): T {
    const row = valueOf.get(name)
    try {
      return parse(row?.value ?? '')
    } catch (error) {
      const shown = row?.from === 'flag' ? row.flag : name
      mistakes.push(`${shown}: ${error instanceof Error ? error.message : String(error)}`)
      return parse(row?.default ?? '')
    }
  }
  const options = Object.fromEntries(
    Object.entries(OPTIONS).map(([name, { parse }]) => [name, read<unknown>(name, parse)]),
  ) as { [N in OptionName]: ReturnType<Options[N]['parse']> }
  const rates = Object.fromEntries(
    RATES.map((rate) => [
      rate,
      { ...DEFAULT_RATES[rate], quota: read(rateOption(rate), integer(0, 1_000_000_000)) },
    ]),
  ) as Record<Rate, RatePolicies[Rate]>
  if (options.STORE !== null && options.MAX_STORAGE_MB > 0)
    mistakes.push(
      'MAX_STORAGE_MB: limits the database in DATA_DIR only; with STORE leave it out, and limit the database itself',
    )
  if (options.BARS !== null && options.STORE === null)
    mistakes.push('BARS: only the bars of a database can be in a bucket; name it in STORE, or leave BARS out')
  if (options.OIDC_ISSUER !== null && options.OIDC_CLIENT_ID === '')
    mistakes.push('OIDC_CLIENT_ID: is missing; OIDC_ISSUER is of no use without it')
  if (options.BACKUP !== null && options.STORE !== null)
    mistakes.push(
      "BACKUP: copies the database in DATA_DIR only; with STORE use the database's own way, such as pg_basebackup with archived WAL, and leave BACKUP out",
    )
  return { config: { ...options, rates }, values, mistakes }
}
