// The table of what a receiver's address may be, and what a hostile one tries.

import { describe, expect, test } from 'bun:test'
import { Problem } from '../../../src/lib/problem.ts'
import { parseAllowList, parseReceiverUrl, permittedAddresses } from '../../../src/notify/webhooks/address.ts'

async function verdict(
  url: string,
  { allow = '', dns = ['93.184.215.14'] as readonly string[] } = {},
): Promise<string> {
  try {
    const list = parseAllowList(allow)
    return (await permittedAddresses(parseReceiverUrl(url, list), list, async () => dns)).join(' ')
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
}
const NO = 'webhook_url_blocked'

describe('without settings', () => {
  test.each([
    ['https://example.com/hook', '93.184.215.14'],
    ['https://example.com:8443/a?b=c', '93.184.215.14'],
    ['https://8.8.8.8/', '8.8.8.8'],
    ['https://[2606:4700::1111]/', '2606:4700::1111'],
    ['http://example.com/', NO],
    ['ftp://example.com/', NO],
    ['javascript:alert(1)', NO],
    ['//example.com', NO],
    ['not a url', NO],
    ['https://user:secret@example.com/', NO],
    ['https://example.com/#x', NO],
    ['https://127.0.0.1/', NO],
    ['https://127.1/', NO],
    ['https://2130706433/', NO],
    ['https://0x7f.1/', NO],
    ['https://0177.0.0.1/', NO],
    ['https://[::1]/', NO],
    ['https://[::ffff:127.0.0.1]/', NO],
    ['https://[::ffff:a00:1]/', NO],
    ['https://[64:ff9b::7f00:1]/', NO],
    ['https://[2002:7f00:1::]/', NO],
    ['https://[fe80::1]/', NO],
    ['https://[fd00::1]/', NO],
    ['https://[ff02::1]/', NO],
    ['https://10.1.2.3/', NO],
    ['https://172.31.255.255/', NO],
    ['https://192.168.0.1/', NO],
    ['https://169.254.169.254/latest/meta-data', NO],
    ['https://100.64.0.1/', NO],
    ['https://0.0.0.0/', NO],
    ['https://255.255.255.255/', NO],
    ['https://224.0.0.1/', NO],
    ['https://198.18.0.1/', NO],
  ])('%s → %s', async (url, expected) => {
    expect(await verdict(url)).toBe(expected)
  })
  test.each([
    [['127.0.0.1'], NO],
    [['93.184.215.14', '10.0.0.1'], NO],
    [['::1'], NO],
    [['::ffff:169.254.169.254'], NO],
    [[], NO],
    [['93.184.215.14', '2606:4700::1111'], '93.184.215.14 2606:4700::1111'],
    // IPv4 in the clothes of IPv6 is what it means.
    [['::ffff:93.184.215.14'], '::ffff:93.184.215.14'],
    [['::ffff:5db8:d70e'], '::ffff:5db8:d70e'],
  ])('a name that resolves to %p → %s', async (dns, expected) => {
    expect(await verdict('https://example.com/', { dns })).toBe(expected)
  })
  test('the refusal names the setting that would open it', async () => {
    const list = parseAllowList('')
    expect(permittedAddresses(new URL('https://10.0.0.1/'), list, async () => [])).rejects.toThrow(
      'WEBHOOK_ALLOW',
    )
  })
})

describe('with WEBHOOK_ALLOW', () => {
  test.each([
    ['loopback', 'http://127.0.0.1:9000/', '127.0.0.1'],
    ['loopback', 'http://[::1]:9000/', '::1'],
    ['loopback', 'https://10.0.0.1/', NO],
    ['private', 'http://10.0.0.1/', '10.0.0.1'],
    ['private', 'http://8.8.8.8/', NO],
    ['10.0.0.0/24', 'http://10.0.0.9/', '10.0.0.9'],
    ['10.0.0.0/24', 'http://10.0.1.9/', NO],
    ['10.1.2.0/24', 'http://[::ffff:a01:203]/', '::ffff:a01:203'],
    ['10.0.0.9', 'http://10.0.0.9/', '10.0.0.9'],
    ['10.0.0.9', 'http://10.0.0.8/', NO],
    ['10.0.0.9/32', 'http://10.0.0.9/', '10.0.0.9'],
    ['2001:db8::5', 'https://[2001:db8::5]/', '2001:db8::5'],
    ['2001:db8::4/127', 'https://[2001:db8::5]/', '2001:db8::5'],
    ['2001:db8::5', 'https://[2001:db8::6]/', NO],
  ])('%s: %s → %s', async (allow, url, expected) => {
    expect(await verdict(url, { allow })).toBe(expected)
  })
  test('a host by name, whatever it leads to', async () => {
    expect(await verdict('http://receiver.lan:80/x', { allow: 'receiver.lan', dns: ['192.168.1.5'] })).toBe(
      '192.168.1.5',
    )
    expect(await verdict('http://other.lan/', { allow: 'receiver.lan', dns: ['192.168.1.5'] })).toBe(NO)
  })
  test('http to a name is open only where it leads into an opened range', async () => {
    expect(await verdict('http://box.lan/', { allow: '192.168.1.0/24', dns: ['192.168.1.5'] })).toBe(
      '192.168.1.5',
    )
    expect(await verdict('http://box.lan/', { allow: '', dns: ['192.168.1.5'] })).toBe(NO)
    expect(await verdict('http://box.lan/', { allow: 'private', dns: ['192.168.1.5'] })).toBe('192.168.1.5')
    expect(await verdict('http://box.lan/', { allow: 'private', dns: ['93.184.215.14'] })).toBe(NO)
  })
  test.each(['10.0.0.0/33', 'a b/c', '::/129', '*'])('%p is refused with the part that is wrong', (text) => {
    expect(() => parseAllowList(text)).toThrow(/is not/)
  })
})
