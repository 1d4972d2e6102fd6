import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { configRows, readConfig } from '../../src/server/config.ts'
import { withConfigTable } from '../../src/server/config-table.ts'

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

test('every setting has a sentence, and README.md shows them as they are', () => {
  for (const { help } of configRows()) expect(help.length).toBeGreaterThan(10)
  const readme = readFileSync(`${import.meta.dir}/../../README.md`, 'utf8')
  // `bun src/server/config-table.ts` brings it up to date.
  expect(readme).toBe(withConfigTable(readme) ?? 'a README with markers')
})
