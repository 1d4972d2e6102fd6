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

export interface ChartPictures extends PictureMaker {
  /** The PNG of a link. Throws Problem 404 `link_not_found` and 410 `link_expired`. */
  readonly open: (token: string) => Promise<Uint8Array<ArrayBuffer>>
}

export function createChartPictures({
  clock,
  pool,
  box,
  look,
  symbol,
  notice,
}: ChartPictureDeps): ChartPictures {
  /** In order of use, the least recent first. */
  const kept = new Map<string, Promise<Made>>()
  let underWay = 0

  async function draw(told: ChartNotice, chart: NoticeChart, { theme, zone }: PictureLook): Promise<Made> {
    if (underWay >= AT_ONCE) return { why: 'too many were wanted at once.' }
    underWay++
    const enough = new AbortController()
    try {
      const { exchange, interval, price } = told
      const series = { exchange, symbol: told.symbol, interval, owner: chart.owner }
      const drawn = async () => {
        const [{ bars }, facts] = await Promise.all([
          look(series, { to: chart.barTime + 1, last: BARS }),
          symbol(exchange, told.symbol, chart.owner),
        ])
        if (bars.time[bars.length - 1] !== chart.barTime) return null
        const job = {
          bars,
          symbol: facts,
          interval,
          levels: chart.levels,
          theme,
          zone,
          price: price ?? Number.NaN,
        }
        // All of them take turns as one user, and leave the other threads to those who type.
        return pool.do('picture', job, {
          user: 'pictures',
          lane: 'quick',
          budget: BUDGET,
          signal: enough.signal,
        })
      }
      const found = await within(
        clock,
        WAIT_MS,
        drawn().then((png) => ({ png })),
      )
      if (found === null) return { why: 'it took too long.' }
      return found.png === null ? { why: 'its bars are not there any more.' } : { png: found.png }
    } catch (error) {
      return { why: error instanceof Problem ? error.message : String(error) }
    } finally {
      enough.abort()
      underWay--
    }
  }

  function of(told: ChartNotice, as: PictureLook): Promise<Made> {
    const { chart, firingId } = told
    if (!chart || firingId === undefined) return Promise.resolve({ why: 'nothing fired.' })
    const name = [firingId, as.theme, as.zone].join(' ')
    const made = kept.get(name) ?? draw(told, chart, as)
    kept.delete(name)
    kept.set(name, made)
    for (const oldest of kept.keys()) if (kept.size > KEPT) kept.delete(oldest)
    // What failed may work the next time.
    void made.then((answer) => {
      if ('why' in answer && kept.get(name) === made) kept.delete(name)
    })
    return made
  }

  return {
    of,
    async path(notificationId, { at }, { theme, zone }) {
      const text = [notificationId, theme, at + VALID_MS, zone].join(' ')
      return `${PATH}/${Buffer.from(await box.seal(text, BOUND_TO)).toString('base64url')}.png`
    },
    async open(token) {
      const sealed = Buffer.from(token.replace(/\.png$/, ''), 'base64url').toString()
      const text = token.length > TOKEN_MAX ? '' : await box.open(sealed, BOUND_TO).catch(() => '')
      const [, id = '', theme, until, zone = ''] = /^(ntc_\w+) (dark|light) (\d+) (.*)$/.exec(text) ?? []
      if (theme === undefined) throw gone('This link is none of this server’s. Perhaps a part is missing.')
      if (Number(until) < clock.now()) throw new Problem(410, 'link_expired', 'This link has expired.')
      const told = await notice(id)
      if (!told) throw gone('The message of this picture is forgotten.')
      const made = await of(told, { theme: theme as PictureLook['theme'], zone })
      if ('why' in made) throw gone(`There is no picture: ${made.why}`)
      return made.png
    },
  }
}

const gone = (message: string) => new Problem(404, 'link_not_found', message)
