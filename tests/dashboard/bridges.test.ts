// Orders to a broker on the page: made as a dry run, seen, sent to a real receiver, refused there, and stopped.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { barCsv } from '../bar-csv.ts'
import { noBrowser, startSite, type Site } from './browser.ts'

const NAME = 'Пересечение средних'
const MARKET = { exchange: 'E', symbol: 'S', interval: '1h' }
const SOURCE =
  '//@version=6\nstrategy("x")\nif bar_index % 4 == 0\n    strategy.entry("Вход", strategy.long, qty = 2)\nif bar_index % 4 == 2\n    strategy.close("Вход")'

describe.skipIf(noBrowser)('a bridge', () => {
  let site: Site
  let status = 200
  let arrived: () => void = () => undefined
  const order = () =>
    new Promise<void>((resolve) => {
      arrived = resolve
    })
  const taken: { key: string | null; body: Record<string, unknown> }[] = []
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = (await request.json()) as Record<string, unknown>
      taken.push({ key: request.headers.get('idempotency-key'), body })
      arrived()
      return new Response(status === 200 ? 'taken' : 'no money', { status })
    },
  })
  beforeAll(async () => {
    site = await startSite({ env: { WEBHOOK_ALLOW: 'loopback' } })
  }, 300_000)
  afterAll(async () => {
    await site.close()
    await receiver.stop(true)
  })

  test('is made as a dry run, sends what its strategy does once that is ended, and says what was refused', async () => {
    const { page, complaints } = await site.open({ remembered: { 'tour.done': true }, own: true })
    const api = async (method: string, path: string, data?: unknown) => {
      const answer = await page.request.fetch(`${site.url}/api/platform${path}`, {
        method,
        ...(data !== undefined && { data }),
      })
      return (await answer.json()) as Record<string, never>
    }
    const csv = barCsv(80).trimEnd().split('\n')
    // Bars that have just closed, so that none is late.
    const shift = Math.floor(Date.now() / 3_600_000) * 3_600_000 - Number(csv[50]!.split(',')[0])
    const rows = csv.slice(1).map((row) => row.replace(/^\d+/, (time) => String(Number(time) + shift)))
    const bring = async (count: number) => {
      const answer = await page.request.post(
        `${site.url}/api/platform/bars/import?${new URLSearchParams(MARKET).toString()}`,
        {
          headers: { 'content-type': 'text/csv' },
          data: `${csv[0]}\n${rows.slice(0, count).join('\n')}\n`,
        },
      )
      expect(await answer.json()).toMatchObject({ ok: true })
    }
    await bring(42)
    await api('POST', '/forward-runs', { name: NAME, ...MARKET, source: SOURCE })
    await page.goto(`${site.url}/alerts/broker`)
    await page.getByRole('button', { name: 'Add a bridge' }).click()
    await page.getByRole('combobox', { name: 'Service' }).selectOption('generic')
    await page.getByLabel('Address').fill(`http://127.0.0.1:${receiver.port}/in`)
    await page.getByLabel('Not sent any more after seconds').fill('604800')
    await page.getByText('The message').click()
    await page.getByLabel('JSON').fill('{"order": {{strategy.order.id}}}')
    await page.getByRole('button', { name: 'Add as a dry run' }).click()
    await page.getByText('is a text: write it in quotes').waitFor()
    await page
      .getByLabel('JSON')
      .fill(
        '{"order": "{{strategy.order.id}}", "side": "{{strategy.order.action}}", "n": {{strategy.order.contracts}}}',
      )
    await page.getByRole('button', { name: 'Add as a dry run' }).click()
    const bridges = page.getByRole('table', { name: 'Bridges' })
    await bridges.getByText('dry run').waitFor()
    await bridges.getByText('would have 0').waitFor()
    await bridges.getByText(`${NAME}: Any other`).waitFor()
    const menu = async (item: string) => {
      await page.getByRole('button', { name: /^More for/ }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await menu('Try it')
    await page.getByRole('dialog').getByText('"TEST"').waitFor()
    await page.keyboard.press('Escape')
    await menu('End the dry run')
    await page.getByText('does not promise to take a key once').waitFor()
    await page.getByRole('button', { name: 'Send orders' }).click()
    await bridges.getByText('live').waitFor()
    expect(taken).toEqual([])
    const first = order()
    await bring(46)
    await first
    const orders = page.getByRole('table', { name: 'Orders' })
    await page.reload()
    await orders.getByText('200 taken').first().waitFor()
    expect(taken[0]).toEqual({
      key: expect.stringMatching(/^cr-[0-9a-f]{32}$/),
      body: { order: 'Вход', side: 'buy', n: 2 },
    })
    status = 402
    const second = order()
    await bring(48)
    await second
    await page.reload()
    await orders.getByText('402 no money').first().waitFor()
    await bridges.getByText(/differs by/).waitFor()
    await page.getByRole('button', { name: 'Stop all orders' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop all orders' }).click()
    await page.getByText('All orders are stopped').waitFor()
    await page.getByRole('button', { name: 'Let them go on' }).waitFor()
    // The refusal that it made itself.
    expect(complaints.filter((one) => !one.includes('422'))).toEqual([])
  }, 120_000)
})
