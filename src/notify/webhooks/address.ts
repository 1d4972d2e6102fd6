// Decides which addresses a webhook may reach.
//
// A receiver is an address that a user typed and that this server will connect to, so it must not become a way into the
// network that the server is part of (server-side request forgery). Only https is permitted, to an address that the whole
// Internet can reach. The setting WEBHOOK_ALLOW opens more, and for those addresses plain http too. The name is resolved
// and every answer checked when the receiver is saved and again at each attempt, and the connection goes to a checked
// address, so that a name cannot point elsewhere in between (DNS rebinding).

import { BlockList, isIP } from 'node:net'
import { Problem } from '../../lib/problem.ts'

/** Resolves a name to all its addresses, in the order to try them. Rejects if there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** IPv4 ranges that are not global unicast: the IANA special-purpose registry and multicast upwards. */
const BLOCKED_V4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24
198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3`.split(/\s+/)
/** All of IPv6 is blocked except global unicast (2000::/3), minus the parts of it that are reserved or lead to IPv4. */
const BLOCKED_V6 =
  '::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20'.split(' ')
const LOOPBACK = ['127.0.0.0/8', '::1/128']
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', ...LOOPBACK]

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits = ''] = range.split('/')
    const v6 = isIP(address) === 6
    list.addSubnet(address, bits === '' ? (v6 ? 128 : 32) : Number(bits), v6 ? 'ipv6' : 'ipv4')
  }
  return list
}
// Two lists, because BlockList applies IPv6 ranges to IPv4 addresses too, and ::/3 would close all of IPv4.
const blockedV4 = listOf(BLOCKED_V4)
const blockedV6 = listOf(BLOCKED_V6)

const has = (list: BlockList, address: string) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
const isBlocked = (address: string) => has(isIP(address) === 6 ? blockedV6 : blockedV4, address)

/** What the setting WEBHOOK_ALLOW permits. */
export interface AllowList {
  readonly hosts: ReadonlySet<string>
  readonly ranges: BlockList
}

/**
 * Parses `loopback`, `private`, CIDR ranges, addresses and host names, separated by commas. Throws an Error that names the
 * part that is none of these.
 */
export function parseAllowList(text: string): AllowList {
  const hosts = new Set<string>()
  const ranges: string[] = []
  for (const part of text.split(/[,\s]+/).filter(Boolean)) {
    const [address = '', bits] = part.split('/')
    const kind = isIP(address)
    if (part === 'loopback') ranges.push(...LOOPBACK)
    else if (part === 'private') ranges.push(...PRIVATE)
    else if (kind !== 0) {
      const most = kind === 6 ? 128 : 32
      if (bits !== undefined && !(/^\d+$/.test(bits) && Number(bits) <= most))
        throw new Error(`"${part}" is not a range: give 0 to ${most} bits after the slash`)
      ranges.push(part)
    } else if (/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(part)) hosts.add(part.toLowerCase())
    else throw new Error(`"${part}" is not loopback, private, a CIDR range or a host name`)
  }
  return { hosts, ranges: listOf(ranges) }
}

const blockedUrl = (message: string) =>
  new Problem(422, 'webhook_url_blocked', message, {
    fields: [{ in: 'body', path: '/url', code: 'webhook_url_blocked', message }],
  })
const HOW_TO_ALLOW = 'The person who runs this server can allow it with the setting WEBHOOK_ALLOW.'

/**
 * The URL, normalised, if a receiver's URL may have this form; otherwise throws Problem 422. It does not check where the
 * name leads: `permittedAddresses` does.
 */
export function parseReceiverUrl(text: string, allow: AllowList): URL {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw blockedUrl('The address is not a URL. Write it as https://host/path.')
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw blockedUrl('The address must begin with https://.')
  if (url.username !== '' || url.password !== '')
    throw blockedUrl('The address must not contain a user name or password.')
  if (url.hash !== '') throw blockedUrl('The address must not contain a fragment (#…).')
  const host = hostOf(url)
  if (url.protocol === 'http:' && !allow.hosts.has(host) && !(isIP(host) && has(allow.ranges, host)))
    // Only resolving tells whether a name is in an allowed range, which `permittedAddresses` does later.
    if (isIP(host) || allow.ranges.rules.length === 0)
      throw blockedUrl(`The address must begin with https://. ${HOW_TO_ALLOW}`)
  return url
}

/** The host of a URL without the brackets of IPv6 and without a final dot. */
function hostOf(url: URL): string {
  return url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
}

/**
 * The addresses that a delivery may connect to, in order. Throws Problem 422 `webhook_url_blocked` if the name leads to any
 * blocked address: one bad answer among good ones is how rebinding begins. `mayBeUnknown`: a name that leads nowhere is no
 * mistake yet, and has no addresses.
 */
export async function permittedAddresses(
  url: URL,
  allow: AllowList,
  resolve: Resolve,
  mayBeUnknown = false,
): Promise<readonly string[]> {
  const host = hostOf(url)
  let addresses: readonly string[]
  if (isIP(host)) addresses = [host]
  else
    try {
      addresses = await resolve(host)
    } catch {
      addresses = []
    }
  if (addresses.length === 0 && !mayBeUnknown) throw blockedUrl(`The host name ${host} cannot be resolved.`)
  const opened = (address: string) => allow.hosts.has(host) || has(allow.ranges, unmapped(address))
  for (const address of addresses)
    if (!opened(address)) {
      if (isIP(address) === 0 || isBlocked(unmapped(address)))
        throw blockedUrl(`The address leads into a private or reserved network. ${HOW_TO_ALLOW}`)
      if (url.protocol === 'http:') throw blockedUrl(`The address must begin with https://. ${HOW_TO_ALLOW}`)
    }
  return addresses
}

/** An IPv4 address written as IPv6 (::ffff:127.0.0.1) is judged as the IPv4 address it means. */
function unmapped(address: string): string {
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (dotted) return dotted
  const hex = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address)
  if (!hex) return address
  const [high, low] = [Number.parseInt(hex[1] ?? '', 16), Number.parseInt(hex[2] ?? '', 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
