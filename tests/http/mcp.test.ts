// An agent's session, with the protocol's own client.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SCOPES } from '../../src/wire/scopes.ts'
import { barCsv } from '../bar-csv.ts'
import { rejection } from '../rejection.ts'
import { clientOf } from './agent-client.ts'
import { testServer } from './server.ts'

// A busy machine is no failure.
setDefaultTimeout(900_000)

async function agent(scopes: readonly string[], engine: 'real' | 'stand-in' = 'stand-in') {
  const server = testServer(undefined, { engine })
  const cookie = await server.signUp()
  return { ...server, cookie, ...(await clientOf(server, await server.token(cookie, scopes))) }
}

test('an agent that waits to be told something is refused, for a stream would never say anything', async () => {
  const { call, signUp, token } = testServer()
  const headers = await token(await signUp(), ['search:read'])
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const answer = await call(method, '/mcp', { headers: { ...headers, accept: 'text/event-stream' } })
    expect([answer.status, answer.json.error.code, answer.headers.get('allow')]).toEqual([
      405,
      'method_not_allowed',
      'POST',
    ])
  }
})

const ALL_TOOLS = [
  'account',
  'find',
  'read',
  'bars',
  'write_script',
  'run',
  'optimise',
  'judge',
  'scan',
  'follow',
  'explain_difference',
  'alert',
  'find_operation',
  'call_operation',
]

const SOURCE = `//@version=6
strategy("Every third")
n = input.int(3, "N")
if bar_index % n == 0
    strategy.entry("L", strategy.long)
else
    strategy.close("L")`

describe('the tools', () => {
  test('are few and short, and say what they do to the world and what they answer', async () => {
    const { client } = await agent(['search:read'])
    const list = await client.listTools()
    expect(list.tools.map(({ name }) => name)).toEqual(ALL_TOOLS)
    expect(list.tools.length).toBeLessThanOrEqual(14)
    expect(JSON.stringify(list).length).toBeLessThanOrEqual(20_000)
    for (const { name, title, description, inputSchema, outputSchema, annotations } of list.tools) {
      expect([name, typeof title, (description ?? '').length > 40]).toEqual([name, 'string', true])
      expect([name, Object.values(annotations ?? {}).every((hint) => typeof hint === 'boolean')]).toEqual([
        name,
        true,
      ])
      expect(Object.keys(annotations ?? {}).toSorted()).toEqual([
        'destructiveHint',
        'idempotentHint',
        'openWorldHint',
        'readOnlyHint',
      ])
      expect([name, inputSchema.type, outputSchema?.type]).toEqual([name, 'object', 'object'])
    }
    const reading = list.tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name)
    expect(reading).toEqual(['account', 'find', 'read', 'bars', 'explain_difference', 'find_operation'])
  })

  test('each does its work, with defaults for all that has one, in answers of 2 kB', async () => {
    const { use, call, cookie, pool } = await agent(SCOPES, 'real')
    const used = new Set<string>()
    const done = async (name: string, args: Record<string, unknown> = {}) => {
      used.add(name)
      const { failed, answer, structured, size } = await use(name, args)
      expect([name, args, failed, failed && answer]).toEqual([name, args, false, false])
      expect(structured).toEqual(answer)
      if (args['limit'] === undefined && args['max_chars'] === undefined)
        expect([name, args, size <= 2100]).toEqual([name, args, true])
      return answer
    }
    const to = async (name: string, path: string, body?: unknown) =>
      (await call(name, `/api/platform${path}`, { headers: cookie, ...(body !== undefined && { body }) }))
        .json

    const csv = barCsv(400)
    const imported = await done('call_operation', {
      name: 'POST /api/platform/bars/import',
      query: { exchange: 'E', symbol: 'S', interval: '1h' },
      body: csv,
    })
    expect(imported['rows']).toBe(400)
    expect((await done('account'))['may']).toContain('bars:read')
    expect((await done('find', { kind: 'markets' }))['items']).toMatchObject([{ market: 'E:S' }])
    expect((await done('bars'))['bars']).toHaveLength(20)
    expect((await done('bars', { market: 's', limit: 3 }))['market']).toBe('E:S 1h')

    expect(await done('write_script', { source: SOURCE })).toMatchObject({ ok: true, diagnostics: [] })
    const wrong = await done('write_script', { source: '//@version=6\nindicator("x")\nplot(cloze)' })
    expect(wrong).toMatchObject({ ok: false, diagnostics: [expect.stringMatching(/^error 3:6 .*close/)] })
    const script = (await done('write_script', { source: SOURCE, save: true }))['id']
    expect((await done('write_script', { source: SOURCE, id: script, name: 'ours' }))['id']).toBe(script)
    expect((await done('read', { id: script }))['script']).toMatchObject({ name: 'ours' })
    expect((await done('find', { kind: 'scripts' }))['items']).toMatchObject([{ id: script, name: 'ours' }])

    // The first natural call: a script, and nothing else.
    const run = await done('run', { script: SOURCE })
    expect(run).toMatchObject({ name: 'Every third', market: 'E:S 1h', state: 'done', tried: 1 })
    // A quarter of the bars is held out, and no figure is of it.
    expect(run['figures']).toMatchObject({ bars: 300 })
    expect(run['span']).toContain('then 100 bars are held out')
    const again = await done('run', { script: 'OURS', inputs: { N: 4 }, name: 'b' })
    expect(again).toMatchObject({ name: 'b', tried: 2 })
    const whole = (await to('GET', `/backtests/${run['id']}`)).result.report
    expect(whole.range.bars).toBe(400)
    const { trades, tradeCount } = await done('read', { id: run['id'], part: 'trades' })
    expect(trades).toHaveLength(10)
    expect(tradeCount).toBe((run['figures'] as { trades: number }).trades)
    expect(tradeCount).toBeLessThan(whole.trades.length)
    expect(await done('read', { id: run['id'] })).toEqual({ ...run, tried: 2 })
    expect((await done('read', { id: run['id'], part: 'script' }))['source']).toBe(SOURCE)

    const sweep = await done('optimise', { script: run['id'], space: { N: [2, 3, 4] } })
    expect(sweep).toMatchObject({ state: 'done', tried: 3, best: { inputs: { N: expect.any(Number) } } })
    expect(JSON.stringify(sweep)).not.toMatch(/heldOut|outside/)
    expect(await done('optimise', { script, market: 'E:S 1h' })).toMatchObject({ state: 'done' })
    expect(await done('read', { id: sweep['id'] })).toMatchObject({ id: sweep['id'], best: sweep['best'] })
    expect(await to('GET', '/hold-out?exchange=E&symbol=S&interval=1h')).toMatchObject({
      holdOut: { bars: 100, looks: 0 },
    })
    const judged = await done('judge', { id: run['id'] })
    expect(judged).toMatchObject({ verdict: expect.stringMatching(/edge/), look: 1, heldOut: { bars: 100 } })
    // The same again is the same look, the best of a sweep another one, and so is a report with all bars.
    expect(await done('judge', { id: run['id'] })).toEqual({ ...judged })
    expect((await done('judge', { id: sweep['id'] }))['look']).toBe(2)
    expect(await done('judge', { id: again['id'], report: true, max_chars: 9000 })).toMatchObject({
      look: 3,
      report: { range: { bars: 400 } },
    })
    expect(await to('GET', '/hold-out?exchange=E&symbol=S&interval=1h')).toMatchObject({
      holdOut: { looks: 3 },
    })

    const scan = await done('scan', {
      script: '//@version=6\nindicator("i")\nplot(close, "C")\nalertcondition(close > 0, "up")',
      where: 'C > 0',
    })
    expect(scan).toMatchObject({ state: 'done', found: 1, rows: [{ market: 'E:S', holds: ['up'] }] })
    expect(await done('read', { id: scan['id'] })).toMatchObject({ found: 1 })

    const followed = await done('follow', { script: run['id'] })
    expect(followed).toMatchObject({ state: 'running', warmup: 399 })
    expect(await done('read', { id: followed['id'] })).toMatchObject({ forwardRun: { state: 'running' } })
    expect(await done('explain_difference', { kind: 'live', id: followed['id'] })).toMatchObject({
      equal: true,
    })
    expect(await done('follow', { action: 'stop', id: followed['id'] })).toMatchObject({ state: 'stopped' })

    expect(await done('explain_difference', { kind: 'again', id: run['id'] })).toMatchObject({ equal: true })
    expect(await done('explain_difference', { kind: 'future', id: run['id'] })).toMatchObject({ clean: true })
    expect(
      await done('explain_difference', { kind: 'backtests', id: run['id'], other: again['id'] }),
    ).toMatchObject({ said: 'The same script.', backtests: [{ id: run['id'] }, { inputs: { N: 4 } }] })
    const list =
      'Trade #,Type,Signal,Date/Time,Price USD,Contracts,Profit USD\n1,Entry Long,L,2026-01-01 01:00,1,1,\n1,Exit Long,L,2026-01-01 02:00,1,1,0\n'
    expect(await done('explain_difference', { kind: 'tradingview', id: run['id'], csv: list })).toMatchObject(
      {
        expected: 1,
        said: expect.any(String),
        notes: expect.arrayContaining([expect.stringContaining('lie outside the bar')]),
      },
    )

    const alert = await done('alert', { price: 100 })
    expect(alert).toMatchObject({ kind: 'price', op: 'crossing', market: 'E:S 1h', channels: ['email'] })
    expect(await done('alert', { action: 'change', id: alert['id'], price: 1, op: 'above' })).toMatchObject({
      price: 1,
    })
    expect(await done('alert', { action: 'pause', id: alert['id'] })).toMatchObject({ state: 'paused' })
    expect(await done('alert', { action: 'resume', id: alert['id'] })).toMatchObject({ state: 'active' })
    const { items: firings } = await done('find', { kind: 'firings' })
    for (const { id } of firings as { id: string }[])
      expect(await done('alert', { action: 'acknowledge', id })).toMatchObject({ state: 'acknowledged' })
    expect(await done('alert', { action: 'delete', id: alert['id'] })).toMatchObject({ state: 'deleted' })

    for (const kind of [
      'any',
      'symbols',
      'backtests',
      'sweeps',
      'scans',
      'portfolios',
      'followed',
      'alerts',
      'ideas',
      'watchlists',
      'webhooks',
      'channels',
    ])
      await done('find', { kind })
    expect((await done('find', { kind: 'help', q: 'webhook' }))['items'][0].id).toMatch(/^help\//)
    expect((await done('find', { kind: 'pine', q: 'ta.sma' }))['items'][0].name).toMatch(/^ta\.sma\(/)
    expect((await done('read', { id: 'help/fills' }))['text']).toContain('#')
    expect((await done('read', { id: 'pine/ta', max_chars: 9000 }))['text'].length).toBeGreaterThan(5000)

    const [operation] = (await done('find_operation', { q: 'import a watchlist' }))['operations']
    expect(operation.name).toBe('POST /api/platform/watchlists/import')
    expect((await done('find_operation', { q: operation.name }))['operations'][0].body).toMatchObject({
      name: 'text, needed',
    })
    const watchlist = await done('call_operation', {
      name: operation.name,
      body: { name: 'w', items: [{ symbol: 'S' }] },
    })
    expect(await done('read', { id: watchlist['id'] })).toMatchObject({ watchlist: { name: 'w' } })
    expect([...used].toSorted()).toEqual(ALL_TOOLS.toSorted())
    pool.close()
  })
})

describe('an agent that is wrong', () => {
  test('is told what to call instead', async () => {
    const { use } = await agent(SCOPES)
    const said = async (name: string, args: Record<string, unknown>) => {
      const { failed, answer, size } = await use(name, args)
      expect([name, failed, size <= 2000]).toEqual([name, true, true])
      return answer
    }
    expect(await said('run', {})).toMatchObject({
      fields: [expect.stringMatching(/^script is required/)],
      next: [expect.stringContaining('run {"script":')],
    })
    expect((await said('run', { script: 'x', simbol: 'y' }))['error']).toContain('no argument `simbol`')
    expect((await said('run', { script: 'x', markets: 'y' }))['error']).toContain('`market` is meant')
    expect((await said('account', { x: 1 }))['error']).toContain('It takes none.')
    for (const args of [
      { script: 5 },
      { script: 'x(', bars: 'many' },
      { script: 'x(', bars: 1e12 },
      { script: null },
    ])
      expect((await said('run', args))['fields']).toHaveLength(1)
    expect(await said('run', { script: 'indicator("x")\nplot(close)' })).toMatchObject({
      error: expect.stringContaining('no strategy()'),
      next: [expect.stringContaining('scan'), expect.stringContaining('write_script')],
    })
    const range = await said('optimise', { script: SOURCE, space: { Every: { from: 1, to: 3 } } })
    expect(range['fields'][0]).toContain('an object with min, max')
    // No bars at all.
    expect(await said('run', { script: SOURCE })).toMatchObject({
      next: [expect.stringContaining('import bars'), expect.any(String)],
    })
    expect((await said('run', { script: 'nothing' }))['next']).toEqual(['find {"kind":"scripts"}'])
    expect(await said('judge', { id: 'bt_nothing' })).toMatchObject({
      code: 'backtest_not_found',
      next: ['find {"kind":"backtests"}'],
    })
    expect((await said('read', { id: '../../tokens' }))['error']).toContain('no id')
    expect((await said('alert', { action: 'pause' }))['error']).toContain('`id`')
    expect((await said('follow', {}))['error']).toContain('`script`')
    expect((await said('explain_difference', { kind: 'tradingview', id: 'bt_1' }))['error']).toContain(
      '`csv`',
    )
    expect((await said('call_operation', { name: 'GET /api/platform/nothing' }))['next']).toHaveLength(1)
    for (const path of [{}, { id: null }, { id: '' }, { id: '.' }, { id: '..' }, { id: '../../tokens' }]) {
      const answer = await said('call_operation', { name: 'GET /api/platform/sweeps/{id}', path })
      expect(answer['error']).toMatch(/needs `id`|no such sweep/)
    }
    // What only a session may do, and what never ends, is no operation for agents.
    for (const name of [
      'POST /api/auth/password',
      'GET /api/platform/stream',
      'GET /api/platform/scans/{id}/events',
    ])
      expect((await said('call_operation', { name }))['error']).toContain('no such operation')
  })

  test('does not get at what its token may not, nor at what is another’s', async () => {
    const server = testServer()
    const mine = await server.signUp()
    const { id } = (
      await server.call('POST', '/api/platform/scripts', {
        headers: mine,
        body: { name: 'secretname', source: 'indicator("secret")' },
      })
    ).json
    const other = await server.signUp('other@example.com')
    const readers = [
      await server.token(other, SCOPES),
      await server.token(mine, ['search:read', 'alerts:read']),
    ]
    for (const headers of readers) {
      const { use } = await clientOf(server, headers)
      for (const [name, args] of [
        ['read', { id }],
        ['find', { kind: 'scripts' }],
        ['find', { q: 'secret' }],
        ['run', { script: id }],
        ['run', { script: 'secretname' }],
        ['write_script', { source: 'x', id }],
        ['call_operation', { name: 'GET /api/platform/scripts/{id}', path: { id } }],
        ['call_operation', { name: 'GET /api/platform/scripts' }],
      ] as const)
        expect([name, args, JSON.stringify((await use(name, args)).answer)]).toEqual([
          name,
          args,
          expect.not.stringMatching(/secret(?!\W)|indicator\("secret/),
        ])
    }
    const { use } = await clientOf(server, readers[1]!)
    // Nothing is not the same as nothing that it may see, whether there is such a thing or not.
    for (const [name, args, scopes] of [
      ['find', { kind: 'scripts' }, 'scripts:read'],
      ['find', { kind: 'ideas' }, 'ideas:read'],
      ['find', { kind: 'markets' }, 'bars:read'],
      ['find', { q: 'zzyzzx' }, 'scripts:read, ideas:read, backtests:read, watchlists:read, bars:read'],
      ['run', { script: 'secretname' }, 'scripts:read'],
      ['run', { script: 'nothing' }, 'scripts:read'],
      ['read', { id }, 'scripts:read'],
      ['read', { id: 'scr_nothing' }, 'scripts:read'],
    ] as const)
      expect([name, args, await use(name, args)]).toMatchObject([
        name,
        args,
        { failed: true, answer: { code: 'insufficient_scope', error: expect.stringContaining(scopes) } },
      ])
    const { answer: account } = await use('account')
    expect([account['markets'], account['marketCount'], account['note']]).toEqual([
      undefined,
      undefined,
      'The access token lacks bars:read, so not everything could be looked at.',
    ])
    expect((await use('find', { q: 'webhook' })).answer).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ id: expect.stringMatching(/^help/) })]),
      note: expect.stringContaining('lacks scripts:read, ideas:read'),
    })
    expect(await use('write_script', { source: 'x', save: true })).toMatchObject({
      failed: true,
      answer: { code: 'insufficient_scope', next: ['account {}'] },
    })
    expect((await use('account')).answer['may']).toEqual(['search:read', 'alerts:read'])
  })

  test('and sends very much gets a short answer', async () => {
    const { use } = await agent(SCOPES)
    const long = 'x'.repeat(300_000)
    for (const [name, args] of [
      ['write_script', { source: long }],
      ['run', { script: `${long}(` }],
      ['find', { q: long }],
      ['read', { id: long }],
      ['read', { id: `bt_${'1'.repeat(100_000)}` }],
      ['find', { kind: long }],
      ['call_operation', { name: long }],
      ['call_operation', { name: 'POST /api/platform/ideas', body: { title: long, body: [long] } }],
      ['alert', { market: long, price: 1 }],
      [
        'optimise',
        { script: 'a(', space: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`i${i}`, [1]])) },
      ],
    ] as const) {
      const { size } = await use(name, args)
      expect([name, size < 2100]).toEqual([name, true])
    }
  })
})

describe('an agent that does the natural thing', () => {
  test.each([
    ['import bars from a CSV file', 'POST /api/platform/bars/import'],
    ['upload bars', 'POST /api/platform/bars/import'],
    ['create webhook', 'POST /api/platform/webhooks'],
    ['send an order to a broker when an alert fires, dry run', 'POST /api/platform/bridges'],
    ['list watchlists', 'GET /api/platform/watchlists'],
    ['delete a series', 'DELETE /api/platform/bars'],
    ['compare with TradingView trades', 'POST /api/platform/backtests/{id}/compare'],
  ])('finds the operation for “%s” first, with what it takes', async (q, name) => {
    const { use } = await agent(SCOPES)
    const { answer } = await use('find_operation', { q })
    expect(answer['operations'][0].name).toBe(name)
    expect(Object.keys(answer['operations'][0])).toContain(
      name.startsWith('GET')
        ? 'summary'
        : name.startsWith('DELETE')
          ? 'query'
          : name.includes('{id}')
            ? 'path'
            : 'body',
    )
    expect(answer['next'][0]).toBe(`call_operation {"name":"${name}"}`)
  })

  test('may write numbers, flags and choices as text, and a market in one', async () => {
    const { use } = await agent(SCOPES)
    const imported = await use('call_operation', {
      name: 'POST /api/platform/bars/import',
      query: { symbol: 'E:S', interval: '1h' },
      body: barCsv(30),
    })
    expect(imported.answer).toMatchObject({
      series: { exchange: 'E', symbol: 'S', count: 30, first: expect.stringMatching(/^\d{4}-\d\d-\d\d/) },
    })
    expect((await use('bars', { market: 'S', limit: '3' })).answer['bars']).toHaveLength(3)
    expect((await use('find', { kind: 'Markets' })).answer['items']).toHaveLength(1)
    const script = await use('write_script', { source: SOURCE, save: 'true', name: 'Каждая третья' })
    expect((await use('find', { kind: 'scripts', q: 'третья' })).answer['items']).toMatchObject([
      { id: script.answer['id'] },
    ])
    expect((await use('bars', { market: 'S', limit: 'three' })).failed).toBe(true)
  })

  test('writes a setting as text, names a script for an alert, and reads one built-in', async () => {
    const { use } = await agent(SCOPES, 'real')
    await use('call_operation', {
      name: 'POST /api/platform/bars/import',
      query: { symbol: 'E:S', interval: '1h' },
      body: barCsv(400),
    })
    const saved = await use('write_script', { source: SOURCE, save: true, name: 'Третья' })
    const settings = { initial_capital: '5000', commission_value: ' 0.1 ' }
    const ran = await use('run', { script: 'третья', settings })
    const script = await use('read', { id: ran.answer['id'], part: 'script' })
    expect(script.answer['overrides']).toEqual({ initial_capital: 5000, commission_value: 0.1 })
    const trades = await use('read', { id: ran.answer['id'], part: 'trades' })
    for (const line of trades.answer['trades']) expect(line).not.toMatch(/\.0*[1-9]\d{8}/)
    expect((await use('alert', { market: 'S', script: 'Третья' })).answer).toMatchObject({
      kind: 'script',
      state: 'active',
    })
    const mended = await use('alert', { market: 'S', script: saved.answer['id'].slice(0, -1) })
    expect(mended).toMatchObject({
      failed: true,
      answer: { code: 'script_not_found', next: ['find {"kind":"scripts"}'] },
    })
    expect((await use('alert', { market: 'S', script: SOURCE })).answer).toMatchObject({
      error: expect.stringContaining('a saved script'),
      next: [expect.stringMatching(/^write_script .*"save":true/)],
    })
    expect((await use('read', { id: 'pine/ta.crossover' })).answer['text']).toContain('ta.crossover(')
    expect(await use('read', { id: 'pine/ta.nothing' })).toMatchObject({
      failed: true,
      answer: { next: ['find {"kind":"pine","q":"ta.nothing"}'] },
    })
  })

  test('is told of an alert that nothing will come of', async () => {
    const { use } = await agent(SCOPES)
    await use('call_operation', {
      name: 'POST /api/platform/bars/import',
      query: { symbol: 'E:S', interval: '1h' },
      body: barCsv(30),
    })
    const { answer } = await use('alert', { market: 'E:S', price: '5' })
    expect(answer['warnings'][0]).toContain('No mail server is set')
    // All that a bridge lacks is said at once.
    const bridge = await use('call_operation', {
      name: 'POST /api/platform/bridges',
      body: { template: 'generic', sourceId: answer['id'], name: 'dry' },
    })
    expect(bridge.answer['fields'].map((one: string) => one.split(':')[0])).toEqual(['/url', '/side', '/qty'])
  })

  test('takes no fraction for a percentage, and no mean of bars for one of years', async () => {
    const { use } = await agent(SCOPES, 'real')
    await use('call_operation', {
      name: 'POST /api/platform/bars/import',
      query: { symbol: 'E:S', interval: '1h' },
      body: barCsv(400),
    })
    const { answer } = await use('run', { script: SOURCE })
    expect(answer['figures']).toMatchObject({
      netProfitPct: expect.stringMatching(/^-?[\d.e-]+%$/),
      sharpeABar: expect.any(Number),
    })
    const { answer: verdict } = await use('judge', { id: answer['id'] })
    expect(Object.keys(verdict['before'])).toContain('sharpeABar')
    // Inputs that the script does not have are no matter of its text.
    await use('call_operation', {
      name: 'POST /api/platform/bars/import',
      query: { symbol: 'E:LARGER', interval: '1h' },
      body: barCsv(500),
    })
    const wrong = await use('run', { script: SOURCE, market: 'E:S 1h', inputs: { Длина: 5 } })
    expect(wrong.answer['next'][0]).toContain('"market":"E:S 1h"')
    const without = await use('run', { market: 'E:S 1h' })
    expect(without.answer['next'][0]).toContain('"market":"E:S 1h"')
    expect((await use('bars', { market: 'LARGE' })).answer['error']).toContain('Is LARGER meant?')
    expect((await use('bars', { market: 'LARGEST' })).answer['error']).not.toContain('meant')
    expect(wrong.answer).toMatchObject({
      error: expect.stringContaining('It has "N"'),
      next: [expect.stringMatching(/^run /)],
    })
    expect((await use('find', { kind: 'backtests' })).answer['items']).toMatchObject([{ id: answer['id'] }])
  })

  test('with no object of arguments, or with far too many bytes, is told what to do', async () => {
    const { call, cookie, token } = await agent(SCOPES)
    const headers = { ...(await token(cookie, SCOPES)), accept: 'application/json, text/event-stream' }
    const rpc = async (params: unknown) =>
      call('POST', '/mcp', { headers, body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } })
    expect((await rpc({ name: 'account', arguments: null })).json.result.isError).toBeUndefined()
    const list = await rpc({ name: 'run', arguments: [1, 2] })
    expect(list.json.result.content[0].text).toContain('script is required')
    const large = await rpc({ name: 'run', arguments: { script: 'x'.repeat(3 << 20) } })
    expect([large.status, large.json.error.message]).toEqual([
      413,
      expect.stringContaining('POST /api/platform/bars/import with the same token'),
    ])
  })
})

test('without a credential there is nothing', async () => {
  const { call } = testServer()
  const answer = await call('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } })
  expect([answer.status, answer.json.error.code]).toEqual([401, 'unauthenticated'])
})

describe('what an agent may read', () => {
  const textOf = async (client: Client, uri: string) => {
    const { contents } = await client.readResource({ uri })
    return (contents[0] as { text: string }).text
  }

  test('is the language, the help, and the scripts of the user, whatever their names are', async () => {
    const { client, use } = await agent(['scripts:write', 'scripts:read'])
    const body = { name: 'Скрипт 📈', source: 'indicator("Ω")' }
    const { id } = (await use('call_operation', { name: 'POST /api/platform/scripts', body })).answer
    const { resources } = await client.listResources()
    const titles = new Map(resources.map(({ uri, title }) => [uri, title]))
    expect(titles.get(`chartroom://scripts/${id}`)).toBe('Скрипт 📈')
    expect(titles.get('chartroom://help/fills')).toBeString()
    expect(await textOf(client, `chartroom://scripts/${id}`)).toBe('indicator("Ω")')
    expect(await textOf(client, 'chartroom://pine/ta')).toContain('`ta.sma(')
    expect(await textOf(client, 'chartroom://pine/chart.point')).toContain('chart.point.new(')
    expect(await textOf(client, 'chartroom://pine/language')).toContain('`close: ')
    for (const uri of titles.keys()) expect((await textOf(client, uri)).length).toBeGreaterThan(10)
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ name }) => name)).toEqual(['language', 'help', 'script'])
  })

  test('is no script of another, none without the scope, and no address that is made up', async () => {
    const server = testServer()
    const mine = await server.signUp()
    const { id } = (
      await server.call('POST', '/api/platform/scripts', {
        headers: mine,
        body: { name: 's', source: 'indicator("secret")' },
      })
    ).json
    const readers = [
      await server.token(await server.signUp('other@example.com'), ['scripts:read']),
      await server.token(mine, ['alerts:read']),
    ]
    for (const headers of readers) {
      const { client } = await clientOf(server, headers)
      expect(JSON.stringify(await client.listResources())).not.toContain(id)
      for (const uri of [
        `chartroom://scripts/${id}`,
        'chartroom://scripts/..',
        'chartroom://pine/nothing',
        'x',
      ])
        expect(String(await rejection(client.readResource({ uri })))).not.toContain('secret')
    }
  })

  test('what a request lacks is asked for in a sentence', async () => {
    const { call, signUp, token } = testServer()
    const headers = {
      ...(await token(await signUp(), ['scripts:read'])),
      accept: 'application/json, text/event-stream',
    }
    const name = 'fix_script'
    for (const [method, params, said] of [
      ...[undefined, {}, { uri: 5 }, { uri: '' }].map(
        (one) => ['resources/read', one, '`resources/read` needs `uri`, the address of a resource'] as const,
      ),
      ...[undefined, {}, { name: 5 }, { arguments: {} }].map(
        (one) => ['tools/call', one, '`tools/call` needs `name`, the name of a tool'] as const,
      ),
      ['prompts/get', {}, '`prompts/get` needs `name`, the name of a prompt'],
      ['prompts/get', { name, arguments: { script: 5 } }, '`params.arguments.script`: expected string'],
      ['tools/call', { name: 'find', task: 5 }, '`tools/call`: `params.task`: expected object'],
      ['tools/list', { cursor: 5 }, '`tools/list`: `params.cursor`: expected string'],
      ['initialize', {}, '`initialize`: `params.protocolVersion`: expected string'],
    ] as const) {
      const body = { jsonrpc: '2.0', id: 1, method, params }
      const { error } = (await call('POST', '/mcp', { headers, body })).json
      expect([method, params, error]).toEqual([
        method,
        params,
        { code: -32602, message: expect.stringContaining(said) },
      ])
      expect(error.message).not.toMatch(/[[{\n]/)
    }
  })

  test('what is not there has the code that the protocol has for it, so that no agent tries again', async () => {
    const { client } = await agent(['scripts:read'])
    for (const uri of ['chartroom://scripts/nothing', 'chartroom://pine/nothing', 'chartroom://a/b', 'x'])
      expect(await rejection(client.readResource({ uri }))).toMatchObject({ code: -32002, data: { uri } })
    for (const [name, given] of [
      ['write_strategy', {}],
      ['write_strategy', { idea: ' ' }],
      ['nothing', {}],
    ] as const)
      expect(await rejection(client.getPrompt({ name, arguments: given }))).toMatchObject({ code: -32602 })
    expect(await rejection(client.callTool({ name: 'nothing' }))).toMatchObject({ code: -32602 })
  })

  test('prompts name tools that there are, and say what they need', async () => {
    const { client } = await agent(['scripts:read'])
    const { tools } = await client.listTools()
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual([
      'write_strategy',
      'fix_script',
      'optimise_strategy',
      'explain_strategy',
    ])
    for (const { name, arguments: taken = [] } of prompts) {
      const given = Object.fromEntries(taken.map((one) => [one.name, `<${one.name}>`]))
      const { messages } = await client.getPrompt({ name, arguments: given })
      const text = JSON.stringify(messages)
      for (const value of Object.values(given)) expect(text).toContain(value)
      const named = text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []
      expect(tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(named))
      expect(String(await rejection(client.getPrompt({ name, arguments: {} })))).toContain(`${name} needs`)
    }
    expect(String(await rejection(client.getPrompt({ name: 'toString' })))).toContain('There is no prompt')
  })
})

test('lists are short unless an agent asks for more', async () => {
  const { use, call, cookie } = await agent(['ideas:write', 'ideas:read'])
  for (let i = 0; i < 22; i++)
    await call('POST', '/api/platform/ideas', {
      headers: cookie,
      body: { title: `t${i}`, body: 'b'.repeat(1000), visibility: 'private' },
    })
  const { items, total, next } = (await use('find', { kind: 'ideas' })).answer
  expect([items.length, total]).toEqual([10, 22])
  expect(next).toContain('find {"kind":"ideas","limit":100}')
  expect((await use('find', { kind: 'ideas', limit: 100 })).answer['items']).toHaveLength(22)
  const name = 'GET /api/platform/ideas'
  const short = await use('call_operation', { name })
  expect(short.size).toBeLessThan(2200)
  expect(short.answer['cut'][0]).toMatch(/^ideas: \d of 22$/)
  const long = await use('call_operation', { name, max_chars: 100_000 })
  expect(long.answer['ideas']).toHaveLength(22)
})
