import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Rate } from '../../src/http/limits.ts'
import { configRows, readConfig } from '../../src/server/config.ts'
import { SETTINGS_ARTICLE, withConfigTable } from '../../src/tools/config-table.ts'

test('a flag wins over the environment, and that over the default', () => {
  const { config, values, mistakes } = readConfig({ port: '8080' }, { PORT: '9090', HOST: '::', SIGNUP: '' })
  expect(mistakes).toEqual([])
  expect(config).toMatchObject({ PORT: 8080, HOST: '::', SIGNUP: 'closed', PUBLIC_URL: null })
  expect(values.filter(({ from }) => from !== 'default').map(({ name, from }) => [name, from])).toEqual([
    ['PORT', 'flag'],
    ['HOST', 'environment'],
  ])
})

describe('mistakes', () => {
  test.each([
    ['PORT', '70000', 'whole number from 0 to 65535'],
    ['PORT', '1e3', 'whole number'],
    ['PUBLIC_URL', 'charts.example.com', 'an address like'],
    ['PUBLIC_URL', 'https://charts.example.com/?a=b', 'an address like'],
    ['SIGNUP', 'yes', 'closed or open'],
    ['TRUSTED_PROXIES', 'loopback, proxy', 'an IP address or a range'],
    ['TRUSTED_PROXIES', '10.0.0.0/33', 'an IP address or a range'],
    ['CORS_ORIGINS', 'https://a.example,b', 'an address like'],
    ['SMTP_URL', 'mail.example.com', 'smtp://'],
    ['RATE_SEARCH', '-1', 'whole number'],
  ])('%s=%s', (name, value, expected) => {
    const { mistakes } = readConfig({}, { [name]: value })
    expect(mistakes).toEqual([expect.stringMatching(new RegExp(`^${name}: .*${expected}`))])
  })
})

test('a rate limit of one kind is set by its name', () => {
  const { config } = readConfig({ 'rate-search': '0' }, {})
  expect(config.rates.search).toEqual({ quota: 0, windowSeconds: 60 })
  expect(config.rates.user.quota).toBe(1200)
})

test('every setting has a sentence, and the help shows them as they are', () => {
  for (const { help } of configRows()) expect(help.length).toBeGreaterThan(10)
  const article = readFileSync(SETTINGS_ARTICLE, 'utf8')
  // `bun src/tools/config-table.ts` brings it up to date; the formatter pads its cells.
  const unpadded = (text: string) => text.replace(/ +/g, ' ').replace(/-+/g, '-')
  expect(unpadded(article)).toBe(unpadded(withConfigTable(article)))
  expect(unpadded(article)).toContain('| `PORT` | `3000` |')
})

describe('every setting', () => {
  /** What it is given, what that means, and what it refuses. */
  const SETTINGS: readonly (readonly [name: string, text: string, value: unknown, bad: string | null])[] = [
    ['PORT', '0', 0, '-1'],
    ['HOST', '0.0.0.0', '0.0.0.0', null],
    ['DATA_DIR', '/var/lib/c', '/var/lib/c', null],
    ['PUBLIC_URL', 'https://a.example/charts', 'https://a.example/charts', 'a.example'],
    ['ALLOWED_HOSTS', 'a.example, b.example', ['a.example', 'b.example'], null],
    ['CORS_ORIGINS', 'https://a.example', ['https://a.example'], 'a.example'],
    ['SIGNUP', 'open', 'open', 'maybe'],
    ['OIDC_CLIENT_ID', 'chartroom', 'chartroom', null],
    ['OIDC_CLIENT_SECRET', 'sécret', 'sécret', null],
    ['OIDC_NAME', 'Zuhause 🏠', 'Zuhause 🏠', null],
    ['OIDC_SCOPES', 'email,groups', ['email', 'groups'], null],
    ['OIDC_SIGNUP', 'open', 'open', 'yes'],
    ['OIDC_GROUPS_CLAIM', 'realm_access.roles', 'realm_access.roles', ' '],
    ['OIDC_GROUPS', 'traders, friends', ['traders', 'friends'], null],
    ['OIDC_ADMIN_GROUPS', 'chart admins', ['chart admins'], null],
    ['SMTP_URL', 'smtp://u:p@m.example:587', 'smtp://u:p@m.example:587', 'https://m.example'],
    ['MAIL_FROM', 'c@a.example', 'c@a.example', 'nobody'],
    ['WEBHOOK_ALLOW', 'loopback', ['loopback'], null],
    ['FEEDS', 'off', 'off', 'no'],
    ['UPDATES', 'off', null, 'no'],
    ['WORKERS', '256', 256, '257'],
    ['SCRIPT_TIME_MS', '100', 100, '99'],
    ['SCRIPT_REQUESTS', '64', 64, '65'],
    ['SCRIPT_MEMORY_MB', '64', 64, '63'],
    ['SCRIPT_ANSWER_MB', '1', 1, '0'],
    ['STORE', 'postgres://u:p@db/charts', 'postgres://u:p@db/charts', 'mysql://db/charts'],
    ['LEASE_SECONDS', '30', 30, '1'],
    ['KEY_FILE', '/run/secrets/key', '/run/secrets/key', null],
    ['MAX_STORAGE_MB', '500', 500, '5 GB'],
    [
      'BACKUP',
      's3://K:S@bucket/p?endpoint=https://s3.example',
      's3://K:S@bucket/p?endpoint=https://s3.example',
      's3://bucket',
    ],
    ['BACKUP_EVERY', '12h', 43_200_000, '5m'],
    ['BACKUP_KEEP', '30d', 2_592_000_000, '7 days'],
    ['MAX_BACKTESTS', '0', 0, '-1'],
    ['MAX_ALERTS', '7', 7, '1000001'],
    ['METRICS', 'off', 'off', 'on'],
    ['LOG_LEVEL', 'debug', 'debug', 'loud'],
  ]
  const RATES = ['ANONYMOUS', 'USER', 'BACKTESTS', 'SEARCH', 'CONTACT', 'CHAT', 'ERRORS', 'TOKENS'] as const
  const NAMED = [
    'TRUSTED_PROXIES',
    'BARS',
    'OIDC_ISSUER',
    ...SETTINGS.map(([name]) => name),
    ...RATES.map((rate) => `RATE_${rate}`),
  ]

  test.each(SETTINGS)('%s=%s', (name, text, value, bad) => {
    const { config, mistakes } = readConfig({}, { [name]: text })
    expect([mistakes, config]).toEqual([[], expect.objectContaining({ [name]: value })])
    const flag = name.toLowerCase().replaceAll('_', '-')
    expect(readConfig({ [flag]: text }, {}).config).toMatchObject({ [name]: value })
    if (bad === null) return
    expect(readConfig({}, { [name]: bad }).mistakes).toEqual([
      expect.stringMatching(new RegExp(`^${name}: `)),
    ])
  })

  test.each(RATES)('RATE_%s counts requests a window, and 0 is no limit', (rate) => {
    const quota = (text: string) =>
      readConfig({}, { [`RATE_${rate}`]: text }).config.rates[rate.toLowerCase() as Rate].quota
    expect([quota('17'), quota('0')]).toEqual([17, 0])
  })

  test('OIDC_ISSUER is the address as the provider names it, beside a client', () => {
    const OIDC_ISSUER = 'https://login.example.com/realms/home/'
    const read = (text: string, more = {}) => readConfig({}, { OIDC_ISSUER: text, ...more })
    const { config, mistakes } = read(OIDC_ISSUER, { OIDC_CLIENT_ID: 'chartroom' })
    expect([config.OIDC_ISSUER, mistakes]).toEqual([OIDC_ISSUER, []])
    expect(read(OIDC_ISSUER).mistakes).toEqual([expect.stringMatching(/^OIDC_CLIENT_ID: is missing/)])
    for (const bad of [
      'login.example.com',
      `${OIDC_ISSUER}.well-known/openid-configuration`,
      'ldap://a',
      'https://u:p@a',
    ])
      expect(read(bad).mistakes).toEqual([expect.stringMatching(/^OIDC_ISSUER: expected the issuer/)])
    const secret = configRows().find(({ name }) => name === 'OIDC_CLIENT_SECRET')
    expect(secret?.secret).toBe(true)
  })

  test('BARS is a bucket with its key, beside a database', () => {
    const STORE = 'postgres://db/charts'
    const BARS = 's3://id:secret%2F@bars/charts?endpoint=https://s3.example.com&region=eu-1'
    const { config, mistakes } = readConfig({}, { STORE, BARS })
    expect([config.BARS, mistakes]).toEqual([BARS, []])
    expect(readConfig({}, { BARS }).mistakes).toEqual([expect.stringContaining('name it in STORE')])
    for (const bad of [
      's3://bars/charts',
      'https://id:secret@bars',
      's3://id:secret@bars?endpoint=s3.example.com',
    ])
      expect(readConfig({}, { STORE, BARS: bad }).mistakes).toEqual([
        expect.stringMatching(/^BARS: expected/),
      ])
  })

  test('BACKUP is refused beside STORE, whose database is backed up in its own way', () => {
    const BACKUP = '/mnt/nas/chartroom'
    expect(readConfig({}, { BACKUP }).mistakes).toEqual([])
    expect(readConfig({}, { BACKUP, STORE: 'postgres://db/charts' }).mistakes).toEqual([
      expect.stringContaining('BACKUP: copies the database in DATA_DIR only'),
    ])
    const { mistakes } = readConfig({}, { BACKUP: 's3://mine:hidden@' })
    expect(mistakes).toEqual([expect.stringMatching(/^BACKUP: expected an address like(?!.*hidden)/)])
  })

  test('STORE takes the modes of encryption that PostgreSQL has, and says which these are', () => {
    const url = (mode: string) => ({ STORE: `postgres://db/charts?sslmode=${mode}` })
    expect(readConfig({}, url('verify-full')).mistakes).toEqual([])
    expect(readConfig({}, url('on')).mistakes).toEqual([expect.stringContaining('one of disable, allow')])
  })

  test('is one of these', () => {
    expect(
      configRows()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(NAMED.toSorted())
  })
})
