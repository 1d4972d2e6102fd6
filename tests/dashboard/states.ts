// The states of the page that pictures are kept of.

import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import type { SeededSite } from './seeded-site.ts'

export interface State {
  readonly name: string
  readonly path: string
  readonly phone?: true
  /** Seen without an account. */
  readonly who?: 'nobody'
  readonly remembered?: object
  /** What has to be there before the picture is taken. */
  readonly shows?: string | RegExp
  /** What is done on the page first. */
  readonly act?: (page: Page) => Promise<void>
}

const indicator = (file: string) =>
  readFileSync(`${import.meta.dir}/../../data/indicators/${file}.pine`, 'utf8')
const study = (id: string, file: string, name: string) => ({
  id,
  name,
  shortName: name,
  source: indicator(file),
  from: `library:${file}`,
  inputs: {},
  hidden: false,
  intervals: null,
  plots: {},
})
const chart = (id: string, exchange: string, symbol: string, interval: string, more: object = {}) => ({
  id,
  market: { exchange, symbol, interval },
  type: 'candles',
  scale: 'linear',
  volume: true,
  trades: true,
  studies: [],
  ...more,
})
const charts = (shape: string, all: readonly object[]) => ({
  shape,
  links: ['crosshair'],
  active: 'c1',
  script: 'c1',
  all,
})
const COIN = ['BINANCE', 'BTCUSDT', '1h'] as const
const EIGHT = charts('8', [
  chart('c1', 'SP', 'SPX', '1d'),
  chart('c2', 'NASDAQ', 'AAPL', '1d', { type: 'heikin-ashi' }),
  chart('c3', ...COIN, { type: 'area' }),
  chart('c4', 'BINANCE', 'ETHUSDT', '1h', { type: 'line' }),
  chart('c5', 'BINANCE', 'SOLUSDT', '1h', { type: 'renko' }),
  chart('c6', 'SP', 'SPX', '1d', { type: 'kagi' }),
  chart('c7', ...COIN, { type: 'baseline' }),
  chart('c8', 'NASDAQ', 'AAPL', '1d', { scale: 'percent' }),
])
const DRAWN = charts('1', [
  chart('c1', ...COIN, { studies: [study('s1', 'bollinger', 'BB'), study('s2', 'rsi', 'RSI')] }),
])

const press = (button: string) => (page: Page) =>
  page.getByRole('button', { name: button, exact: true }).click()
const onChart = (keys: readonly string[]) => async (page: Page) => {
  await page.locator('[role=application]').first().focus()
  for (const key of keys) await page.keyboard.press(key)
  await page.getByRole('dialog').waitFor()
}

/** Lists come first, since looking at charts adds to some of them. */
export function statesOf({ ids, script }: SeededSite): readonly State[] {
  const bare = { bottom: '', side: '', 'chart.legend.folded': false }
  const ran = { ...bare, script, 'script.saved': script }
  const report = { ...ran, bottom: 'report' }
  const drawer = (bottom: string) => ({ ...ran, bottom })
  return [
    { name: 'research', path: '/research', shows: /Best of/ },
    { name: 'phone-research', path: '/research', phone: true, shows: /Best of/ },
    { name: 'backtests', path: '/research?kind=backtest', shows: 'SuperTrend' },
    {
      name: 'portfolio-form',
      path: `/research/portfolios/new?runs=${ids.backtests.slice(0, 2).join(',')}`,
      shows: 'Net profit alone',
    },
    { name: 'webhook', path: `/alerts/webhooks/${ids.webhook}`, shows: 'webhook.test' },
    { name: 'portfolio', path: `/research/portfolios/${ids.portfolio}`, shows: 'How they go together' },
    {
      name: 'phone-portfolio',
      path: `/research/portfolios/${ids.portfolio}`,
      phone: true,
      shows: 'What each part did',
    },
    { name: 'sweep', path: `/research/sweeps/${ids.sweep}`, shows: 'Is it more than luck?' },
    {
      name: 'phone-sweep',
      path: `/research/sweeps/${ids.sweep}`,
      phone: true,
      shows: 'Is it more than luck?',
    },
    { name: 'sweep-form', path: `/research/${ids.scripts[0]}/optimise`, shows: /\d+ trials/ },
    { name: 'scan', path: `/research/scans/${ids.scan}`, shows: 'BINANCE:SOLUSDT' },
    { name: 'scan-form', path: '/research/library%3Arsi/scan', shows: 'Bars of each market' },
    { name: 'script', path: `/research/${ids.scripts[0]}`, shows: 'Source' },
    { name: 'ideas', path: '/ideas', shows: 'Averages that cross' },
    { name: 'shared', path: `/ideas/${ids.idea}`, who: 'nobody', shows: 'Profit factor' },
    { name: 'phone-shared', path: `/ideas/${ids.idea}`, who: 'nobody', phone: true, shows: 'Profit factor' },
    { name: 'markets', path: '/markets', shows: 'SOL / USDT' },
    { name: 'watchlist', path: `/markets/${ids.watchlist}`, shows: '110.38' },
    { name: 'sources', path: '/markets/sources', shows: 'Providers with a key' },
    { name: 'alerts', path: '/alerts', shows: 'A new high' },
    { name: 'phone-alerts', path: '/alerts', phone: true, shows: 'A new high' },
    { name: 'alert-form', path: '/alerts', shows: 'A new high', act: alertForm },
    { name: 'reference', path: '/reference/alerts', shows: 'Create an alert' },
    { name: 'help', path: '/help/chart-types', shows: 'Renko' },
    { name: 'profile', path: '/settings/profile', shows: 'this one' },
    { name: 'appearance', path: '/settings/appearance', shows: 'Blue and orange' },
    { name: 'key-settings', path: '/settings/keys', shows: 'Next bookmark' },
    { name: 'nowhere', path: '/nowhere', shows: 'There is no such page' },
    { name: 'sign-in', path: '/', who: 'nobody', shows: 'Use a passkey' },
    { name: 'palette', path: '/', remembered: bare, shows: /^Vol/, act: palette },
    { name: 'keys', path: '/', remembered: bare, shows: /^Vol/, act: onChart(['?']) },
    { name: 'symbols', path: '/', remembered: bare, shows: /^Vol/, act: onChart(['b', 't']) },
    { name: 'indicators', path: '/', remembered: bare, shows: /^Vol/, act: indicators },
    { name: 'chart', path: '/', remembered: { ...ran, side: 'watchlists' }, shows: '110.38' },
    { name: 'drawings', path: '/', remembered: { ...bare, charts: DRAWN }, shows: /^RSI/ },
    { name: 'eight', path: '/', remembered: { ...bare, charts: EIGHT }, act: eight },
    { name: 'report', path: '/', remembered: report, shows: 'Profit factor' },
    { name: 'phone-report', path: '/', phone: true, remembered: report, shows: 'Profit factor' },
    { name: 'performance', path: '/', remembered: report, shows: 'Profit factor', act: press('Performance') },
    { name: 'trades', path: '/', remembered: drawer('trades'), shows: 'Cross down' },
    { name: 'phone-trades', path: '/', phone: true, remembered: drawer('trades'), shows: 'Cross down' },
    { name: 'editor', path: '/', remembered: drawer('script'), shows: 'No problems' },
    { name: 'replay', path: '/', remembered: drawer('replay'), act: replay },
  ]
}

async function alertForm(page: Page): Promise<void> {
  await press('New alert')(page)
  await page.getByText('Besides the list here').waitFor()
}

async function palette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search' }).fill('rsi')
  await page.getByRole('option', { name: /Pine Script versions/ }).waitFor()
}

/** Alerts come when the bars have, and the drawings of a symbol too. */
async function eight(page: Page): Promise<void> {
  await page.getByText('C', { exact: true }).nth(7).waitFor()
  await page.getByRole('spinbutton', { name: 'Alert: A new high' }).waitFor({ state: 'attached' })
}

async function indicators(page: Page): Promise<void> {
  await onChart(['Alt+i'])(page)
  await page.getByRole('option', { name: /^Aroon/ }).waitFor()
}

async function replay(page: Page): Promise<void> {
  await press('From the first trade')(page)
  await page.getByRole('toolbar', { name: 'Replay' }).waitFor()
}
