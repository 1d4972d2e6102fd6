// People of simulated worlds before a server that keeps what it promises, as far as they can know.

import { expect, test } from 'bun:test'
import { History } from '../../src/simulation/history.ts'
import { Person } from '../../src/simulation/people.ts'
import { EPOCH, Timeline } from '../../src/simulation/timeline.ts'

/** Of one user: a session is over before the answer to its end arrives, and then nothing private is there. */
function honestServer(timeline: Timeline) {
  const kept = new Map<string, object>()
  const as: Record<string, string> = {
    watchlists: 'watchlist',
    ideas: 'idea',
    webhooks: 'webhook',
    channels: 'channel',
    alerts: 'alert',
  }
  let session = 0
  let ids = 0
  const answer = (method: string, kind: string, id: string | undefined, body: object) => {
    if (method === 'POST') {
      const made = `${kind}_${++ids}`
      kept.set(made, body)
      return { status: 200, json: { id: made } }
    }
    const found = kept.get(id ?? '')
    if (!found) return { status: 404, json: {} }
    if (method === 'PATCH') kept.set(id ?? '', { ...found, ...body })
    if (method === 'DELETE') kept.delete(id ?? '')
    return { status: 200, json: { [as[kind]!]: kept.get(id ?? '') } }
  }
  return {
    name: 'server',
    answers: true,
    async call(method: string, path: string, { body, cookie }: { body?: object; cookie?: string }) {
      const [, , area, kind = '', id] = path.split('/')
      const life = null
      if (kind === 'sign-up' || kind === 'sign-in')
        return { status: 200, json: {}, cookie: `s=${++session}`, isOld: false, life }
      const isKnown = cookie === `s=${session}`
      if (kind === 'sign-out') session++
      await timeline.pause(kind === 'sign-out' ? 2000 : 5)
      const isPrivate = kind !== 'ideas' && area !== 'auth'
      const refused = { status: isPrivate ? 401 : 404, json: {} }
      const isMeant = isKnown || kind === 'sign-out'
      return {
        ...(isMeant ? answer(method, kind, id, body ?? {}) : refused),
        cookie: null,
        isOld: false,
        life,
      }
    },
  }
}

test('nothing is held against a server that people look at while they sign out', async () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  const timeline = new Timeline(seed)
  const history = new History(timeline)
  const person = new Person(1, timeline, history, [honestServer(timeline) as never])
  void person.live()
  void (async () => {
    for (;;) {
      await timeline.pause(700)
      await person.lookAtAll()
    }
  })()
  await timeline.run(EPOCH + 3_600_000)
  expect({ seed, findings: history.findings }).toEqual({ seed, findings: [] })
  expect(history.docs.size).toBeGreaterThan(3)
})
