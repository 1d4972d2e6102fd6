// The dashboard's files and the licences: embedded in the executable, or made on the spot from source.
//
// One handler serves both. The page's policy is the strictest there is: nothing but our own files, no inline code,
// Trusted Types. File names carry a hash of their content, so they may be cached for ever; the page itself never is.

import { readdirSync } from 'node:fs'
import { promisify } from 'node:util'
import type { ServeDashboard } from '../http/deps.ts'
import { lazily } from '../lib/memo.ts'
import {
  bundleDashboard,
  CHART_PAGE,
  PAGE,
  PAGES,
  SERVICE_WORKER,
  type Files,
} from './source/dashboard-bundle.ts'
import { LICENSES_FILE, licenseTexts } from './source/licenses.ts'

/** Folders inside the executable, by base name (`compile.assets`). */
export const DASHBOARD_ASSETS = 'dashboard-files'
export const LICENCE_ASSETS = 'licence-files'

interface Asset {
  readonly type: string
  readonly etag: string
  readonly raw: () => Uint8Array<ArrayBuffer>
  /** The executable holds scripts, styles and pictures in this form alone. */
  readonly br: Uint8Array<ArrayBuffer> | undefined
  readonly gzip: (() => Uint8Array<ArrayBuffer>) | undefined
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
  webmanifest: 'application/manifest+json',
}

const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

/** The page's routes may have any depth, so the page refers to its files by absolute addresses. */
function servedAt(base: string, page: Uint8Array): Uint8Array<ArrayBuffer> {
  const text = new TextDecoder().decode(page)
  return new TextEncoder().encode(text.replaceAll(/(href|src)="\.\//g, `$1="${base}/assets/`))
}

/** The playground: one page, for everybody, which is made only when it is first asked for where the server runs from source. */
export const PLAYGROUND = 'try.html'
const isPlayground = (path: string) => path === '/try' || path === '/try/'
/**
 * It runs scripts of strangers, so it has an origin that is nobody's: no session, no storage, and no request but for itself. What
 * it may do besides, its own policy says.
 */
const SANDBOX =
  "sandbox allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox; frame-ancestors 'none'"

/** Their names do not say what is in them, so a browser has to ask again. */
const UNNAMED: readonly string[] = [...PAGES, SERVICE_WORKER]

/** Every address without a file is a route within the page. A service worker is in charge of the folder it lies in. */
function nameAt(path: string): string {
  if (path === `/${SERVICE_WORKER}`) return SERVICE_WORKER
  if (path.startsWith('/assets/')) return path.slice('/assets/'.length).replace(SERVICE_WORKER, '')
  return /^\/(?:$|chart\/|chart$)/.test(path) ? CHART_PAGE : PAGE
}

/** `base` is the path that a proxy serves us under, without a final slash. */
export async function loadDashboard(base: string): Promise<ServeDashboard> {
  const files = Bun.isStandaloneExecutable ? await embedded(DASHBOARD_ASSETS) : await bundleDashboard()
  const packed = files.get(`${PLAYGROUND}${COMPRESSED}`)
  return serveFiles(base, files, packed ? async () => packed : playgroundOfSource)
}

async function playgroundOfSource(): Promise<Uint8Array<ArrayBuffer>> {
  const { bundlePlayground } = await import('./source/playground-bundle.ts')
  const page = new TextEncoder().encode(await bundlePlayground())
  return new Uint8Array(
    zlib().brotliCompressSync(page, { params: { [zlib().constants.BROTLI_PARAM_QUALITY]: 5 } }),
  )
}

/** `playground` answers its page as Brotli. */
export function serveFiles(
  base: string,
  files: Files,
  playground: () => Promise<Uint8Array<ArrayBuffer>> = playgroundOfSource,
): ServeDashboard {
  const playgroundAsset = lazily(async () => fromBrotli(TYPES['html']!, await playground()))
  const assets = new Map<string, Asset>()
  for (const [file, content] of files) {
    const name = file.endsWith(COMPRESSED) ? file.slice(0, -COMPRESSED.length) : file
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
    const bytes = PAGES.includes(name) ? servedAt(base, content) : content
    assets.set(name, file === name ? asItIs(type, bytes) : fromBrotli(type, content))
  }
  return (request, path, head) => {
    if (isPlayground(path))
      return playgroundAsset().then((asset) => respond(request, asset, { asksAgain: true, policy: SANDBOX }))
    const name = nameAt(path)
    const asset = assets.get(name) ?? (name === CHART_PAGE ? assets.get(PAGE) : undefined)
    return asset
      ? respond(request, headed(asset, head), { asksAgain: UNNAMED.includes(name), policy: CSP })
      : null
  }
}

function asItIs(type: string, bytes: Uint8Array<ArrayBuffer>): Asset {
  return { type, etag: etagOf(bytes), raw: () => bytes, br: undefined, gzip: undefined }
}

/** Loaded when a client first needs it. */
const zlib = () => process.getBuiltinModule('node:zlib')

/** Most clients take Brotli. The other forms are made for the first client that does not, and kept. */
function fromBrotli(type: string, br: Uint8Array<ArrayBuffer>): Asset {
  let plain: Uint8Array<ArrayBuffer> | undefined
  let zipped: Uint8Array<ArrayBuffer> | undefined
  const raw = () => (plain ??= zlib().brotliDecompressSync(br))
  return { type, etag: etagOf(br), raw, br, gzip: () => (zipped ??= zlib().gzipSync(raw())) }
}
/** The end of the names of files that the build has compressed. */
export const COMPRESSED = '.br'

/** A page with another head; it is small, and not worth compressing for each. */
function headed(asset: Asset, head: string | null): Asset {
  if (head === null) return asset
  const page = new TextDecoder().decode(asset.raw()).replace(TITLE, () => head)
  return asItIs(asset.type, new TextEncoder().encode(page))
}
const TITLE = /<title>[^<]*<\/title>/
const etagOf = (bytes: Uint8Array): string => `"${Bun.hash(bytes).toString(36)}"`

/** The licence texts of all that is built in, as UTF-8. */
export async function loadLicences(): Promise<Uint8Array<ArrayBuffer>> {
  if (!Bun.isStandaloneExecutable) return new TextEncoder().encode(licenseTexts())
  const packed = await Bun.file(`${import.meta.dir}/${LICENCE_ASSETS}/${LICENSES_FILE}${COMPRESSED}`).bytes()
  return new Uint8Array(await promisify(zlib().brotliDecompress)(packed))
}

async function embedded(folder: string): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const path = `${import.meta.dir}/${folder}`
  const files = readdirSync(path).map(
    async (name) => [name, await Bun.file(`${path}/${name}`).bytes()] as const,
  )
  return new Map(await Promise.all(files))
}

function respond(
  request: Request,
  asset: Asset,
  { asksAgain, policy }: { readonly asksAgain: boolean; readonly policy: string },
): Response {
  const headers: Record<string, string> = {
    'content-type': asset.type,
    etag: asset.etag,
    vary: 'accept-encoding',
    'cache-control': asksAgain ? 'no-cache' : 'public, max-age=31536000, immutable',
    'content-security-policy': policy,
  }
  if (request.headers.get('if-none-match') === asset.etag) return new Response(null, { status: 304, headers })
  const accepted = request.headers.get('accept-encoding') ?? ''
  const { br, gzip } = asset
  if (br && accepted.includes('br'))
    return new Response(br, { headers: { ...headers, 'content-encoding': 'br' } })
  if (gzip && accepted.includes('gzip'))
    return new Response(gzip(), { headers: { ...headers, 'content-encoding': 'gzip' } })
  return new Response(asset.raw(), { headers })
}
