// Finds out who is at the other end of a request: address, scheme and host, as far as they can be trusted.
//
// `X-Forwarded-*` counts only from a trusted proxy, and of the addresses in it the last one counts that is not a proxy.

import { BlockList, isIP } from 'node:net'
import { memo } from '../lib/memo.ts'

export interface Peer {
  readonly ip: string
  /** The key for rate limits: the address, or for IPv6 its /64, since that is what one customer is given. */
  readonly network: string
  readonly local: boolean
  readonly https: boolean
  /** Host and port as the client sees them, lower case. */
  readonly host: string
}

/** Parses `loopback`, `private`, addresses and CIDR ranges. Throws a sentence on anything else. */
export function addressList(entries: readonly string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries.flatMap((name) => NAMED[name] ?? [name])) {
    const [address = '', bits] = entry.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    const width = family === 'ipv6' ? 128 : 32
    const prefix = bits === undefined ? width : Number(bits)
    if (isIP(address) === 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > width)
      throw new Error('expected loopback, private, an IP address or a range like 10.0.0.0/8')
    list.addSubnet(address, prefix, family)
  }
  return list
}

const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}
const LOOPBACK = addressList(['loopback'])

/**
 * How peers look through these proxies. Places are kept, since an address has to be looked up in lists and most requests
 * come from few. Without proxies the address is asked for only where somebody needs it, as it takes a microsecond.
 */
export function peersBehind(trusted: BlockList): (request: Request, address: () => string) => Peer {
  const place = memo(PLACES_MAX, (address) => placeOf(address, trusted))
  const isAlone = trusted.rules.length === 0
  return (request, address) => {
    let known: Place | null = null
    const direct = () => (known ??= place(address()))
    const forwarded = (name: string) => (!isAlone && direct().isTrusted ? request.headers.get(name) : null)
    const client = () =>
      forwarded('x-forwarded-for')
        ?.split(',')
        .map((hop) => place(hop.trim()))
        .findLast(({ ip, isTrusted }) => isIP(ip) > 0 && !isTrusted) ?? direct()
    const proto = forwarded('x-forwarded-proto')?.split(',')[0]?.trim().toLowerCase()
    const host =
      forwarded('x-forwarded-host')?.split(',')[0]?.trim() ??
      request.headers.get('host') ??
      URL.parse(request.url)?.host ??
      ''
    return {
      get ip() {
        return client().ip
      },
      get network() {
        return client().network
      },
      get local() {
        // A proxy on this machine makes every client look local, so a request that came through one is not local.
        const { headers } = request
        return client().isLoopback && !headers.has('x-forwarded-for') && !headers.has('forwarded')
      },
      https: proto === undefined ? request.url.startsWith('https:') : proto === 'https',
      host: host.toLowerCase(),
    }
  }
}

const PLACES_MAX = 10_000

/** The facts that follow from an address alone. */
interface Place {
  readonly ip: string
  readonly network: string
  readonly isTrusted: boolean
  readonly isLoopback: boolean
}

function placeOf(address: string, trusted: BlockList): Place {
  const ip = plainAddress(address)
  return {
    ip,
    network: isIP(ip) === 6 ? `${ipv6Groups(ip).slice(0, 4).join(':')}::/64` : ip,
    isTrusted: contains(trusted, ip),
    isLoopback: contains(LOOPBACK, ip),
  }
}

/** `host[:port]` without the port and the brackets. */
export function hostName(host: string): string {
  return host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
}

function contains(list: BlockList, ip: string): boolean {
  const family = isIP(ip)
  return family > 0 && list.check(ip, family === 6 ? 'ipv6' : 'ipv4')
}

/** An IPv4 address written as IPv6 is converted back. */
function plainAddress(address: string): string {
  return address.replace(/^\[|\]$/g, '').replace(/^::ffff:(?=\d+\.)/i, '')
}

function ipv6Groups(ip: string): string[] {
  const [head = '', tail] = (ip.split('%')[0] ?? '').split('::')
  const groups = (text: string | undefined) => (text ? text.split(':') : [])
  const front = groups(head)
  const back = groups(tail)
  const zeros = tail === undefined ? 0 : 8 - front.length - back.length
  return [...front, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...back].map((group) =>
    parseInt(group || '0', 16).toString(16),
  )
}
