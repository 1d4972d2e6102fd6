// Who a request is from, by what came over which connection.

import { expect, test } from 'bun:test'
import { addressList, hostName, peersBehind } from '../../src/http/peer.ts'

const trusted = addressList(['loopback', '10.0.0.0/8', 'fd00::/8'])
const peer = (address: string, headers: Record<string, string> = {}) =>
  peersBehind(trusted)(new Request('http://h/', { headers }), () => address)

test.each([
  ['a direct client', '203.0.113.9', {}, '203.0.113.9'],
  [
    'a direct client that claims to be another',
    '203.0.113.9',
    { 'x-forwarded-for': '1.2.3.4' },
    '203.0.113.9',
  ],
  ['behind a proxy', '10.0.0.1', { 'x-forwarded-for': '203.0.113.9' }, '203.0.113.9'],
  ['behind two', '10.0.0.1', { 'x-forwarded-for': '203.0.113.9, 10.1.1.1' }, '203.0.113.9'],
  ['a forged first hop', '10.0.0.1', { 'x-forwarded-for': '1.1.1.1, 203.0.113.9' }, '203.0.113.9'],
  ['rubbish in between', '10.0.0.1', { 'x-forwarded-for': '203.0.113.9, unknown' }, '203.0.113.9'],
  ['an IPv4 address in IPv6 clothes', '::ffff:203.0.113.9', {}, '203.0.113.9'],
  ['a proxy that says nothing', '10.0.0.1', {}, '10.0.0.1'],
])('%s', (_name, address, headers, ip) => expect(peer(address, headers).ip).toBe(ip))

test('IPv6 clients are counted by their /64', () => {
  expect(peer('2001:db8::1').network).toBe('2001:db8:0:0::/64')
  expect(peer('2001:db8:0:0:ffff::1').network).toBe('2001:db8:0:0::/64')
  expect(peer('2001:DB8:0001::').network).toBe('2001:db8:1:0::/64')
  expect(peer('203.0.113.9').network).toBe('203.0.113.9')
})

test('only loopback without a proxy is local', () => {
  expect(peer('127.0.0.1').local).toBe(true)
  expect(peer('::1').local).toBe(true)
  expect(peer('127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }).local).toBe(false)
  expect(peer('10.0.0.1').local).toBe(false)
  expect(peer('').local).toBe(false)
})

test('the scheme is the real one, or what a trusted proxy says', () => {
  expect(peer('10.0.0.1', { 'x-forwarded-proto': 'https' }).https).toBe(true)
  expect(peer('203.0.113.9', { 'x-forwarded-proto': 'https' }).https).toBe(false)
  expect(peersBehind(trusted)(new Request('https://h/'), () => '203.0.113.9').https).toBe(true)
})

test('the host is the one that was asked for, of several proxies the first one', () => {
  const hosts = { host: 'Inner:80', 'x-forwarded-host': 'Charts.example, inner' }
  expect(peer('10.0.0.1', hosts).host).toBe('charts.example')
  expect(peer('203.0.113.9', hosts).host).toBe('inner:80')
})

test('a host is named without port and brackets', () => {
  expect(['h:80', '[::1]:80', '[::1]', 'h'].map(hostName)).toEqual(['h', '::1', '::1', 'h'])
})
