// Where addresses of earlier versions lead.

import { expect, test } from 'bun:test'
import { commandNow, match, MOVED, movedTo } from '../../src/dashboard/addresses.ts'

test.each([
  ['/backtests', '/research?kind=backtest'],
  ['/backtests/compare', '/research/compare'],
  ['/backtests/bt_1', '/?backtest=bt_1'],
  ['/sweeps', '/research?kind=sweep'],
  ['/sweeps/new', '/research/editor/optimise'],
  ['/sweeps/sw_1', '/research/sweeps/sw_1'],
  ['/scans', '/research?kind=scan'],
  ['/scans/new', '/research/editor/scan'],
  ['/scans/scan_1', '/research/scans/scan_1'],
  ['/portfolios', '/research?kind=portfolio'],
  ['/portfolios/new', '/research/portfolios/new'],
  ['/portfolios/pf_1', '/research/portfolios/pf_1'],
  ['/forward', '/research?kind=forward'],
  ['/forward/new', '/research/editor/forward'],
  ['/forward/fwd_1', '/research/forward/fwd_1'],
  ['/scripts', '/research'],
  ['/scripts/scr_1', '/research/scr_1'],
  ['/watchlists', '/markets'],
  ['/watchlists/wl_1', '/markets/wl_1'],
  ['/settings/bars', '/markets/sources'],
  ['/channels', '/alerts/channels'],
  ['/webhooks', '/alerts/webhooks'],
  ['/webhooks/wh_1', '/alerts/webhooks/wh_1'],
])('%s leads to %s', (from, to) => {
  expect(movedTo(from)).toBe(to)
})

test('every old address is told of above, and none leads to another old one', () => {
  expect(MOVED).toHaveLength(23)
  for (const [, to] of MOVED) expect(movedTo(to.split('?')[0]!)).toBeNull()
})

test('what an address asks for goes with it', () => {
  expect(movedTo('/backtests/compare', '?runs=bt_1,bt_2')).toBe('/research/compare?runs=bt_1,bt_2')
  expect(movedTo('/backtests', '?a=b')).toBe('/research?kind=backtest&a=b')
  expect(movedTo('/scripts/a%2Fb')).toBe('/research/a%2Fb')
})

test('addresses of today lead nowhere else', () => {
  for (const path of ['/', '/chart/SP%3ASPX/1d', '/research', '/markets', '/alerts/fired', '/settings/keys'])
    expect(movedTo(path)).toBeNull()
  expect(match('/research/sweeps/:id', '/research/sweeps/sw_1')).toEqual({ id: 'sw_1' })
  // One that was cut within a letter of Cyrillic leads to what is not there, and breaks nothing.
  expect(match('/research/:id', '/research/%D0')).toEqual({ id: '%D0' })
  expect(movedTo('/scripts/%D0')).toBe('/research/%25D0')
})

test('keys that were chosen for a page of an earlier version lead to where it is now', () => {
  expect(['go:/backtests', 'go:/settings/bars', 'go:/ideas', 'go:/', 'script:run'].map(commandNow)).toEqual([
    'go:/research',
    'go:/markets/sources',
    'go:/ideas',
    'go:/',
    'script:run',
  ])
})
