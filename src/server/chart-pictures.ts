// The chart that goes with the message of a firing: made once and shared by the channels, and by those who follow its link.
//
// A message never waits long for it, and never fails for it. While many alerts fire at once only some get one: drawing takes
// a hundred times the work of sending.

import type { ChartNotice, Notice, NoticeChart, PictureLook, PictureMaker } from '../notify/channels/kind.ts'
import type { JobPool } from '../work/workers/pool.ts'
import type { Clock } from '../lib/clock.ts'
import { Problem } from '../lib/problem.ts'
import { within } from '../lib/within.ts'
import type { SeriesKey } from '../market/bar-store.ts'
import type { BarRange, Bars } from '../market/bars.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import type { SecretBox } from '../notify/webhooks/secret-box.ts'

export interface ChartPictureDeps {
  readonly clock: Clock
  readonly pool: Pick<JobPool, 'do'>
  readonly box: SecretBox
  /** Bars with the forming one. */
  readonly look: (key: SeriesKey, range: BarRange) => Promise<{ readonly bars: Bars }>
  readonly symbol: (exchange: string, symbol: string, owner: string) => Promise<SymbolInfo>
  /** What a notification says; null = there is none. */
  readonly notice: (notificationId: string) => Promise<Notice | null>
}

/** How long a message waits for its picture, and what drawing may take. */
const WAIT_MS = 3000
const BUDGET = { timeMs: 2000, memoryBytes: 128 * 2 ** 20 }
const BARS = 120
/** Pictures that are drawn or wait for it. */
const AT_ONCE = 16
/** Some 30 kB each. */
const KEPT = 100
/** As long as the other links of a message. */
const VALID_MS = 7 * 24 * 3_600_000
const BOUND_TO = 'picture-link'
const PATH = '/api/links/pictures'
const TOKEN_MAX = 1000

type Made = Awaited<ReturnType<PictureMaker['of']>>

export class ChartPictures implements PictureMaker {
  readonly #deps: ChartPictureDeps
  /** In order of use, the least recent first. */
  readonly #kept = new Map<string, Promise<Made>>()
  #underWay = 0

  constructor(deps: ChartPictureDeps) {
    this.#deps = deps
  }

  of(told: ChartNotice, as: PictureLook): Promise<Made> {
    const kept = this.#kept
    const { chart, firingId } = told
    if (!chart || firingId === undefined) return Promise.resolve({ why: 'nothing fired.' })
    const name = [firingId, as.theme, as.zone].join(' ')
    const made = kept.get(name) ?? this.#made(told, chart, as)
    kept.delete(name)
    kept.set(name, made)
    for (const oldest of kept.keys()) if (kept.size > KEPT) kept.delete(oldest)
    // What failed may work the next time.
    void made.then((answer) => {
      if ('why' in answer && kept.get(name) === made) kept.delete(name)
    })
    return made
  }

  async path(
    notificationId: string,
    { at }: Pick<Notice, 'at'>,
    { theme, zone }: PictureLook,
  ): Promise<string> {
    const text = [notificationId, theme, at + VALID_MS, zone].join(' ')
    return `${PATH}/${Buffer.from(await this.#deps.box.seal(text, BOUND_TO)).toString('base64url')}.png`
  }

  /** The PNG of a link. Throws Problem 404 `link_not_found` and 410 `link_expired`. */
  async open(token: string): Promise<Uint8Array<ArrayBuffer>> {
    const { box, clock, notice } = this.#deps
    const sealed = Buffer.from(token.replace(/\.png$/, ''), 'base64url').toString()
    const text = token.length > TOKEN_MAX ? '' : await box.open(sealed, BOUND_TO).catch(() => '')
    const [, id = '', theme, until, zone = ''] = /^(ntc_\w+) (dark|light) (\d+) (.*)$/.exec(text) ?? []
    if (theme === undefined) throw gone('This link is none of this server’s. Perhaps a part is missing.')
    if (Number(until) < clock.now()) throw new Problem(410, 'link_expired', 'This link has expired.')
    const told = await notice(id)
    if (!told) throw gone('The message of this picture is forgotten.')
    const made = await this.of(told, { theme: theme as PictureLook['theme'], zone })
    if ('why' in made) throw gone(`There is no picture: ${made.why}`)
    return made.png
  }

  async #made(told: ChartNotice, chart: NoticeChart, as: PictureLook): Promise<Made> {
    if (this.#underWay >= AT_ONCE) return { why: 'too many were wanted at once.' }
    this.#underWay++
    const enough = new AbortController()
    try {
      const drawn = this.#draw(told, chart, as, enough.signal).then((png) => ({ png }))
      const found = await within(this.#deps.clock, WAIT_MS, drawn)
      if (found === null) return { why: 'it took too long.' }
      return found.png === null ? { why: 'its bars are not there any more.' } : { png: found.png }
    } catch (error) {
      return { why: error instanceof Problem ? error.message : String(error) }
    } finally {
      enough.abort()
      this.#underWay--
    }
  }

  /** null: its bars are gone. */
  async #draw(
    { exchange, symbol, interval, price }: ChartNotice,
    { owner, barTime, levels }: NoticeChart,
    { theme, zone }: PictureLook,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    const { look, pool, symbol: factsOf } = this.#deps
    const [{ bars }, facts] = await Promise.all([
      look({ exchange, symbol, interval, owner }, { to: barTime + 1, last: BARS }),
      factsOf(exchange, symbol, owner),
    ])
    if (bars.time[bars.length - 1] !== barTime) return null
    const job = { bars, symbol: facts, interval, levels, theme, zone, price: price ?? Number.NaN }
    // All of them take turns as one user, and leave the other threads to those who type.
    return pool.do('picture', job, { user: 'pictures', lane: 'quick', budget: BUDGET, signal })
  }
}

const gone = (message: string) => new Problem(404, 'link_not_found', message)
