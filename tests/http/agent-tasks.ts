// Twenty tasks as people give them to agents, each with the calls that do it and the answer that is right.

import { barCsv } from '../bar-csv.ts'

export const STRATEGY = `//@version=6
strategy("Every third", default_qty_type = strategy.fixed, default_qty_value = 1)
n = input.int(3, "N")
if bar_index % n == 0
    strategy.entry("L", strategy.long)
else
    strategy.close("L")`
const WRONG = '//@version=6\nindicator("x")\nplot(cloze)'
const RSI =
  '//@version=6\nindicator("Low")\nr = ta.rsi(close, 14)\nplot(r, "RSI")\nalertcondition(r < 30, "low")'

/** What is there before the tasks begin. */
export const MARKETS = { S: barCsv(2000), T: barCsv(500) } as const

// Whatever a tool answers.
// oxlint-disable-next-line typescript/no-explicit-any
export type Told = Record<string, any>

export interface Step {
  readonly tool: string
  /** `told` are the answers of the task so far, `kept` what earlier tasks have left. */
  readonly args?: (told: readonly Told[], kept: Record<string, string>) => Record<string, unknown>
}

export interface AgentTask {
  readonly task: string
  readonly steps: readonly Step[]
  /** Whether the last answer has what is right. */
  readonly isRight: (last: Told, told: readonly Told[]) => boolean
  readonly keep?: (last: Told) => Record<string, string>
}

const step = (tool: string, args: Record<string, unknown> = {}): Step => ({ tool, args: () => args })
const kept = (tool: string, args: (kept: Record<string, string>) => Record<string, unknown>): Step => ({
  tool,
  args: (_told, all) => args(all),
})

export const TASKS: readonly AgentTask[] = [
  {
    task: 'Which markets are there?',
    steps: [step('find', { kind: 'markets' })],
    isRight: ({ items }) => items.length === 2 && items[0].market === 'E:S',
  },
  {
    task: 'What was the last close of S?',
    steps: [step('bars', { market: 'S', limit: 1 })],
    isRight: ({ bars }) => bars.length === 1,
  },
  {
    task: 'What is wrong with this script?',
    steps: [step('write_script', { source: WRONG })],
    isRight: ({ ok, diagnostics }) => !ok && diagnostics[0].startsWith('error 3:6'),
  },
  {
    task: 'Save this strategy.',
    steps: [step('write_script', { source: STRATEGY, save: true })],
    isRight: ({ id }) => id.startsWith('scr_'),
    keep: ({ id }) => ({ script: id }),
  },
  {
    task: 'Backtest it on S. How many trades?',
    steps: [kept('run', ({ script }) => ({ script, market: 'S' }))],
    isRight: ({ figures }) => figures.trades === 500,
    keep: ({ id }) => ({ run: id }),
  },
  {
    task: 'Show its last ten trades.',
    steps: [kept('read', ({ run }) => ({ id: run, part: 'trades' }))],
    isRight: ({ trades }) => trades.length === 10,
  },
  {
    task: 'Is it better with N = 4?',
    steps: [
      kept('run', ({ run }) => ({ script: run, market: 'S', inputs: { N: 4 } })),
      {
        tool: 'explain_difference',
        args: ([first], { run }) => ({ kind: 'backtests', id: run, other: first!['id'] }),
      },
    ],
    isRight: ({ backtests }) => backtests[1].inputs.N === 4,
  },
  {
    task: 'Which N from 2 to 6 is best?',
    steps: [kept('optimise', ({ run }) => ({ script: run, market: 'S', space: { N: [2, 3, 4, 5, 6] } }))],
    isRight: ({ best }) => best.inputs.N >= 2,
    keep: ({ id }) => ({ sweep: id }),
  },
  {
    task: 'Is that an edge, or luck?',
    steps: [kept('judge', ({ sweep }) => ({ id: sweep }))],
    isRight: ({ verdict, tried }) => verdict.endsWith('edge') && tried === 5,
  },
  {
    task: 'Does it see the future?',
    steps: [kept('explain_difference', ({ run }) => ({ kind: 'future', id: run }))],
    isRight: ({ clean }) => clean === true,
  },
  {
    task: 'Where is the RSI below 30 now?',
    steps: [step('scan', { script: RSI, where: 'RSI < 30' })],
    isRight: ({ rows, markets }) => markets === 2 && Array.isArray(rows),
  },
  {
    task: 'Follow the strategy on paper.',
    steps: [kept('follow', ({ run }) => ({ script: run }))],
    isRight: ({ state }) => state === 'running',
    keep: ({ id }) => ({ followed: id }),
  },
  {
    task: 'What does it hold, and what is it worth? Then stop it.',
    steps: [
      kept('read', ({ followed }) => ({ id: followed })),
      kept('follow', ({ followed }) => ({ action: 'stop', id: followed })),
    ],
    isRight: ({ state }) => state === 'stopped',
  },
  {
    task: 'Tell me when S crosses 105.',
    steps: [step('alert', { market: 'S', price: 105 })],
    isRight: ({ op, price }) => op === 'crossing' && price === 105,
    keep: ({ id }) => ({ alert: id }),
  },
  {
    task: 'Pause that alert.',
    steps: [kept('alert', ({ alert }) => ({ action: 'pause', id: alert }))],
    isRight: ({ state }) => state === 'paused',
  },
  {
    task: 'What has fired lately?',
    steps: [step('find', { kind: 'firings' })],
    isRight: ({ items }) => Array.isArray(items),
  },
  {
    task: 'What are the arguments of ta.supertrend?',
    steps: [step('find', { kind: 'pine', q: 'ta.supertrend' })],
    isRight: ({ items }) => items[0].name.startsWith('ta.supertrend('),
  },
  {
    task: 'How are limit orders filled here?',
    steps: [
      step('find', { kind: 'help', q: 'limit order fills' }),
      step('read', { id: 'help/fills', max_chars: 8000 }),
    ],
    isRight: ({ text }) => text.includes('limit'),
  },
  {
    task: 'Import these three bars as E:U 1h.',
    steps: [
      step('find_operation', { q: 'import bars' }),
      step('call_operation', {
        name: 'POST /api/platform/bars/import',
        query: { exchange: 'E', symbol: 'U', interval: '1h' },
        body: barCsv(3),
      }),
    ],
    isRight: ({ rows }) => rows === 3,
  },
  {
    task: 'Make a watchlist of S and T.',
    steps: [
      step('find_operation', { q: 'import a watchlist' }),
      step('find_operation', { q: 'POST /api/platform/watchlists/import' }),
      step('call_operation', {
        name: 'POST /api/platform/watchlists/import',
        body: {
          name: 'mine',
          items: [
            { symbol: 'S', exchange: 'E' },
            { symbol: 'T', exchange: 'E' },
          ],
        },
      }),
    ],
    isRight: ({ id }) => id.startsWith('wl_'),
  },
]
