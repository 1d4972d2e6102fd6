// `chartroom update --check` against a server that answers as GitHub's API does.

import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { sumCheck } from '../../src/cli/update-command.ts'
import { chartroom, temporaryFolder } from './run.ts'

const folder = temporaryFolder()
const asked: { readonly path: string; readonly headers: Record<string, string> }[] = []
let answer: () => Response
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    asked.push({ path: new URL(request.url).pathname, headers: request.headers.toJSON() })
    return answer()
  },
})
afterAll(() => server.stop(true))
beforeEach(() => void asked.splice(0))

const address = `${server.url.href}repos/somebody/chartroom/releases/latest`
const check = (...flags: string[]) =>
  chartroom(folder, 'update', '--check', '--updates', address, '--webhook-allow', 'loopback', ...flags)

const RELEASE = {
  tag_name: 'v0.1.0',
  published_at: '2027-01-02T03:04:05Z',
  html_url: 'https://github.com/somebody/chartroom/releases/tag/v0.1.0',
  assets: [
    'linux-x64.tar.gz',
    'linux-arm64.tar.gz',
    'darwin-arm64.tar.gz',
    'darwin-x64.tar.gz',
    'windows-x64.zip',
  ].map((name) => ({ name: `chartroom-0.1.0-${name}` })),
}

// The version of the tests' commands is 0.0.0.
describe('update --check', () => {
  test('names the newer release, and how its file for this machine is verified', async () => {
    answer = () => Response.json(RELEASE)
    const { code, out, err } = await check()
    expect([code, err]).toEqual([0, ''])
    const lines = out.split('\n')
    expect(lines[0]).toBe(`0.1.0 of 2027-01-02 is newer than this 0.0.0: ${RELEASE.html_url}`)
    expect(lines[2]).toBe('  sha256sum --check --ignore-missing SHA256SUMS')
    expect(sumCheck('darwin', 'x.tar.gz')).toBe('shasum -a 256 --check --ignore-missing SHA256SUMS')
    expect(sumCheck('windows', 'x.zip')).toStartWith('Get-FileHash x.zip ')
    expect(lines[3]).toMatch(
      /^ {2}gh attestation verify chartroom-0\.1\.0-\w+-(?:x64|arm64)\.(?:tar\.gz|zip) --repo somebody\/chartroom$/,
    )
  })

  test('says of itself no more than its name, and asks once', async () => {
    answer = () => Response.json(RELEASE)
    await check()
    expect(asked).toHaveLength(1)
    expect(Object.keys(asked[0]!.headers).toSorted()).toEqual(
      ['accept', 'accept-encoding', 'connection', 'content-length', 'host', 'user-agent'].toSorted(),
    )
    expect(asked[0]!.headers['user-agent']).toBe('chartroom')
  })

  test.each([
    ['v0.0.0', 'This is the newest release, 0.0.0'],
    ['0.0.1', '0.0.1 is newer than this 0.0.0'],
    ['v10.0.0', '10.0.0 is newer than this 0.0.0'],
  ])('compares %s by its numbers', async (tag, said) => {
    answer = () => Response.json({ tag_name: tag })
    const { code, out } = await check()
    expect([code, out.split('\n')[0]]).toEqual([0, said])
  })

  test.each([
    [() => new Response('', { status: 404 }), /^[\d.:]+ knows of no release at http/],
    [
      () => new Response('', { status: 403 }),
      /^[\d.:]+ has been asked too often from here; try again in an hour\.$/,
    ],
    [() => new Response('', { status: 500 }), /^[\d.:]+ answers 500\.$/],
    [() => Response.redirect('https://elsewhere.example/'), /^[\d.:]+ answers 302\.$/],
    [() => new Response('<html>'), /is no release as GitHub's API has them\.$/],
    [() => Response.json([null]), /is no release as GitHub's API has them\.$/],
    [() => Response.json({ tag_name: 'nightly' }), /is no release as GitHub's API has them\.$/],
    [() => Response.json({ tag_name: 'v1.0.0', body: 'x'.repeat(600_000) }), /is no release/],
  ])('says in one sentence what is wrong: %#', async (response, said) => {
    answer = response
    const { code, out, err } = await check()
    expect([code, out]).toEqual([1, ''])
    const [, reason = ''] = /^Whether there is a newer release cannot be told: (.*)$/.exec(err) ?? []
    expect(reason.replace(/^what /, '')).toMatch(said)
  })

  test('shows nothing of an answer that a terminal would obey', async () => {
    const evil = '\u001b[2J'
    answer = () =>
      Response.json({
        tag_name: 'v9.0.0',
        published_at: `2027-01-02${evil}`,
        html_url: `https://x/${evil}`,
        assets: [{ name: `chartroom-linux-x64.${evil}` }, null, 3],
      })
    const { code, out } = await check()
    expect(code).toBe(0)
    expect(out).not.toContain('\u001b')
  })

  test('goes only where webhooks may', async () => {
    const { code, err } = await chartroom(folder, 'update', '--check', '--updates', address)
    expect(code).toBe(1)
    expect(err).toContain('WEBHOOK_ALLOW')
    expect(asked).toEqual([])
  })

  test('off asks nobody', async () => {
    const { code, err } = await check('--updates', 'off')
    expect([code, err]).toEqual([1, 'UPDATES is off, so nobody is asked whether there is a newer release.'])
    expect(asked).toEqual([])
  })

  test('an address that is none is told before anybody is asked', async () => {
    const { code, err } = await chartroom(folder, 'update', '--check', '--updates', 'ftp://x')
    expect(code).toBe(2)
    expect(err).toStartWith('--updates: expected off, or an address like https://')
  })

  test('without --check nothing happens', async () => {
    const { code, err } = await chartroom(folder, 'update')
    expect(code).toBe(2)
    expect(err).toStartWith('Chartroom does not update itself.')
  })
})
