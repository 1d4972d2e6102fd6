// The rooms that `bun run mutate` knows: which files get mistakes, and which tests are run last.
//
// A mutant is first run against every test file that covers its line, whatever room that file belongs to. Code that only
// runs in a worker or in another process has no coverage, so the room's own tests run as well before a mutant counts as a
// survivor.

export interface Room {
  readonly sources: readonly string[]
  readonly tests: readonly string[]
}

export const ROOMS: Readonly<Record<string, Room>> = {
  broker: { sources: ['src/backtest/broker/**/*.ts'], tests: ['tests/backtest/*.test.ts'] },
  report: {
    sources: ['src/backtest/report/*.ts', 'src/backtest/equity.ts'],
    tests: ['tests/backtest/*.test.ts', 'tests/wire/*.test.ts', 'tests/api/columns.test.ts'],
  },
  alerts: { sources: ['src/alerts/*.ts'], tests: ['tests/alerts/*.test.ts', 'tests/api/alert-*.test.ts'] },
  access: {
    sources: ['src/api/access.ts', 'src/accounts/*.ts'],
    tests: [
      'tests/accounts/*.test.ts',
      'tests/api/{access,auth,authorization,frame,scopes,letter,races,pace,peer}.test.ts',
      'tests/api/{bodies,columns,encode,idempotency,idempotency-keys,kept-answers}.test.ts',
    ],
  },
  idempotency: {
    sources: ['src/api/idempotency.ts'],
    tests: ['tests/api/idempotency*.test.ts', 'tests/api/races.test.ts'],
  },
  deliveries: { sources: ['src/webhooks/*.ts'], tests: ['tests/webhooks/*.test.ts'] },
  lexer: { sources: ['src/pine/1-parse/lexer.ts'], tests: ['tests/pine/{lexer,parser,manual}.test.ts'] },
  checker: { sources: ['src/pine/2-check/*.ts'], tests: ['tests/pine/*.test.ts'] },
  store: { sources: ['src/store/*.ts'], tests: ['tests/store/*.test.ts', 'tests/market/bar-*.test.ts'] },
  market: {
    sources: ['src/market/**/*.ts'],
    tests: ['tests/market/*.test.ts', 'tests/engine/import.test.ts'],
  },
  builtins: { sources: ['src/pine/builtins/**/*.ts'], tests: ['tests/pine/{library,ta}/*.test.ts'] },
  runtime: { sources: ['src/pine/runtime/**/*.ts'], tests: ['tests/pine/*.test.ts'] },
  parser: {
    sources: ['src/pine/1-parse/*.ts'],
    tests: ['tests/pine/{lexer,parser,manual,outline,format}.test.ts'],
  },
  compiler: { sources: ['src/pine/{3-plan,4-generate}/*.ts'], tests: ['tests/pine/*.test.ts'] },
  backtest: { sources: ['src/backtest/*.ts'], tests: ['tests/{backtest,runs}/*.test.ts'] },
  postgres: {
    sources: ['src/store/postgres/*.ts'],
    tests: ['tests/store/{postgres,lease,feed,conformance,races,collection}*.test.ts'],
  },
  forward: {
    sources: ['src/forward/*.ts', 'src/backtest/forward.ts'],
    tests: ['tests/forward/*.test.ts', 'tests/backtest/forward.test.ts'],
  },
  live: {
    sources: ['src/market/live/*.ts'],
    tests: ['tests/market/live/*.test.ts'],
  },
  portfolios: {
    sources: ['src/portfolios/*.ts', 'src/backtest/portfolio*.ts', 'src/backtest/broker/pot.ts'],
    tests: ['tests/portfolios/*.test.ts', 'tests/backtest/portfolio.test.ts'],
  },
  accounts: {
    sources: ['src/accounts/*.ts'],
    tests: ['tests/accounts/*.test.ts', 'tests/api/{access,auth,authorization,credentials,scopes}.test.ts'],
  },
  limits: {
    sources: ['src/api/{limits,pace,stream-slots,peer}.ts'],
    tests: ['tests/api/{limits,pace,peer,stream}.test.ts'],
  },
  runs: {
    sources: ['src/runs/*.ts'],
    tests: ['tests/runs/*.test.ts', 'tests/api/{backtests,races,snapshots}.test.ts'],
  },
  engine: { sources: ['src/engine/*.ts'], tests: ['tests/engine/*.test.ts'] },
  statistics: { sources: ['src/statistics/*.ts'], tests: ['tests/statistics/*.test.ts'] },
  ...named(
    'ideas',
    'scripts',
    'watchlists',
    'replay',
    'search',
    'support',
    'errors',
    'feeds',
    'charts',
    'mail',
    'lib',
    'scans',
    'sweeps',
  ),
}

/** Rooms whose folder of tests has their name. */
function named(...names: readonly string[]): Record<string, Room> {
  const room = (name: string) => ({ sources: [`src/${name}/*.ts`], tests: [`tests/${name}/*.test.ts`] })
  return Object.fromEntries(names.map((name) => [name, room(name)]))
}
