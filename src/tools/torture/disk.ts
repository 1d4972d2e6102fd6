// Section "disk" fills the disk. What does not fit must be refused with 507, what was promised must stay, and deleting,
// signing in, stopping and starting must always work, so that users can free space.
//
// Root on Linux gets a small disk of its own (tmpfs); otherwise MAX_STORAGE_MB takes its place.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { codeOf, PASSWORD, type Reply, type Client } from './client.ts'
import { Market } from './market.ts'
import { Random } from './random.ts'
import { Receiver } from './receiver.ts'
import type { Scene } from './scene.ts'
import { Server, start, tryStart } from './server.ts'
import type { Tally } from './tally.ts'
import { Writer } from './writer.ts'

const DISK_MB = 24
const platform = '/api/platform'
const RUN = {
  name: 'last',
  symbol: 'SPX',
  exchange: 'SP',
  interval: '1d',
  bars: 300,
  source: '//@version=6\nstrategy("x")\nplot(close)',
  inputs: {},
}

export async function disk(scene: Scene, tally: Tally): Promise<void> {
  const random = new Random(scene.seed)
  for (let round = 0; round < scene.rounds(10); round++)
    for (const kind of KINDS)
      await fillOnce(scene, tally, kind, random.fork(), `round ${round + 1} (${kind})`)
}

const KINDS = ['tmpfs', 'setting'] as const
type Kind = (typeof KINDS)[number]

async function fillOnce(scene: Scene, tally: Tally, kind: Kind, random: Random, step: string): Promise<void> {
  const folder = mkdtempSync('/tmp/chartroom-torture-')
  const mount = `${folder}/disk`
  mkdirSync(mount)
  const isMounted = kind === 'tmpfs' && mountSmall(mount)
  if (kind === 'tmpfs' && !isMounted) tally.figure('a small disk', 'left out, needs root on Linux')
  else {
    const flags = kind === 'setting' ? ['--max-storage-mb', '6'] : []
    const full = new FullDisk(scene, tally, `${mount}/data`, flags, random, step)
    await full.live().catch((error: unknown) => tally.find('the round broke off', String(error), step))
    await full.end()
    tally.rounds++
  }
  if (isMounted) Bun.spawnSync(['umount', '-l', mount])
  rmSync(folder, { recursive: true, force: true })
}

function mountSmall(path: string): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  return Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'tmpfs', path]).success
}

class FullDisk {
  readonly #scene: Scene
  readonly #tally: Tally
  readonly #data: string
  readonly #flags: readonly string[]
  readonly #random: Random
  readonly #step: string
  readonly #receiver = new Receiver()
  #server: Server | null = null

  constructor(
    scene: Scene,
    tally: Tally,
    data: string,
    flags: readonly string[],
    random: Random,
    step: string,
  ) {
    this.#scene = scene
    this.#tally = tally
    this.#data = data
    this.#flags = flags
    this.#random = random
    this.#step = step
  }

  async live(): Promise<void> {
    const server = await this.#start()
    const client = await server.client().signUp('owner@example.com')
    await client.post(`${platform}/webhooks`, {
      name: 'hook',
      url: this.#receiver.url,
      events: ['alert.triggered', 'backtest.reportReady'],
    })
    const writer = new Writer('disk', client, this.#random.fork())
    let steps = 0
    await writer.write(client, () => steps++ > 40)
    const release = this.#receiver.hold()
    await client.post(`${platform}/backtests`, RUN)
    await this.#fill(client)
    // The receiver's answer comes when there is no room to record it.
    const logged = server.log.lines
    release()
    await Bun.sleep(this.#scene.isShort ? 300 : 3000)
    if (server.log.lines - logged > 200) this.#find('the log floods', `${server.log.lines - logged} lines`)
    if (this.#receiver.most > 5) this.#find('deliveries flood', `one event ${this.#receiver.most} times`)
    await this.#mustWork(server, client, writer)
    await this.#restart(writer)
  }

  async end(): Promise<void> {
    await this.#server?.kill()
    await this.#receiver.close()
  }

  #find(kind: string, what: string): void {
    this.#tally.find(kind, what, this.#step)
  }

  async #start(): Promise<Server> {
    this.#server = await start({
      ...this.#scene,
      data: this.#data,
      flags: this.#flags,
      tally: this.#tally,
    })
    return this.#server
  }

  /** Adds bars until they no longer fit, then ever smaller texts until those do not fit either. */
  async #fill(client: Client): Promise<void> {
    this.#tally.faults++
    let n = 0
    await this.#untilFull(() => new Market(`FULL${n++}`, this.#random).import(client, 20_000))
    for (const size of [20_000, 3000, 1])
      await this.#untilFull(() =>
        client.post(`${platform}/ideas`, {
          title: `full ${n++}`,
          body: 'x'.repeat(size),
          tags: [],
          visibility: 'private',
        }),
      )
  }

  async #untilFull(write: () => Promise<Reply>): Promise<void> {
    for (let i = 0; i < 500; i++) {
      const answer = await write()
      if (answer.status === 507 || codeOf(answer) === 'quota_exceeded') return
      if (answer.status !== 200)
        return this.#find(
          'a full disk answers',
          `${answer.status} ${codeOf(answer)} ${answer.text.slice(0, 200)}`,
        )
    }
  }

  /** What must work on a full disk: signing in, reading, and freeing space. */
  async #mustWork(server: Server, client: Client, writer: Writer): Promise<void> {
    const guest = server.client()
    const credentials = { email: 'owner@example.com', password: PASSWORD }
    const health = await guest.get('/api/health')
    if (health.status !== 200) this.#find('health on a full disk', String(health.status))
    const signedIn = await guest.post('/api/auth/sign-in', credentials)
    if (signedIn.status !== 200)
      this.#find('no sign-in on a full disk', `${signedIn.status} ${codeOf(signedIn)}`)
    for (const kind of [writer.ideas, writer.alerts, writer.watchlists])
      for (const id of kind.kept().slice(0, 3)) {
        const { status, text } = await client.call('DELETE', `${kind.path}/${id}`)
        if (status === 200) kind.removed(id, true)
        else this.#find('no delete on a full disk', `${kind.noun} ${status} ${text.slice(0, 120)}`)
      }
    await this.#makeRoom(client)
  }

  async #makeRoom(client: Client): Promise<void> {
    for (let i = 0; i < 3; i++) {
      const query = `exchange=TORTURE&symbol=FULL${i}&interval=1m`
      const { status } = await client.call('DELETE', `${platform}/bars?${query}`)
      if (status !== 200) this.#find('no delete on a full disk', `bars ${status}`)
    }
    const idea = { title: 'after', body: 'x', tags: [], visibility: 'private' }
    const { status } = await client.post(`${platform}/ideas`, idea)
    if (status === 200) return
    // On a real disk that was full the reserve has been given up: other writes are refused until there is room for a new
    // one.
    if (this.#flags.length === 0 && status === 507)
      this.#tally.figure('writes after deleting on a full disk', '507')
    else this.#find('nothing fits though room was made', String(status))
  }

  /** The server must stop as asked, start again, and have what it promised. */
  async #restart(writer: Writer): Promise<void> {
    const exit = await this.#server?.stop()
    if (exit && exit.code !== 0)
      this.#find('did not stop as asked', `${exit.signal ?? exit.code} ${exit.text.slice(-200)}`)
    const again = await tryStart({
      ...this.#scene,
      data: this.#data,
      flags: this.#flags,
      tally: this.#tally,
    })
    if (!(again instanceof Server)) return this.#find('does not start on a full disk', again.text.slice(-300))
    this.#server = again
    const client = again.client(writer.client.headers)
    for (const kind of writer.promises)
      for (const broken of await kind.broken(client)) this.#find('an acknowledged write is lost', broken)
  }
}
