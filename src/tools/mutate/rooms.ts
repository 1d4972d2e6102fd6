// The rooms that `bun run mutate` knows: which files get mistakes, and which tests are run last.
//
// A mutant is first run against every test file that covers its line, whatever room that file belongs to. Code that only
// runs in a worker or in another process has no coverage, so the room's own tests run as well before a mutant counts as a
// survivor.

export interface Room {
  /** `tested` = the files that the room's tests import: a page cannot be judged by what is no model. */
  readonly sources: readonly string[] | 'tested'
  readonly tests: readonly string[]
}

export const ROOMS: Readonly<Record<string, Room>> = {
  broker: { sources: ['src/broker/emulator/**/*.ts'], tests: ['tests/broker/*.test.ts'] },
  report: {
    sources: ['src/broker/report/*.ts', 'src/broker/equity.ts'],
    tests: ['tests/broker/*.test.ts', 'tests/wire/*.test.ts', 'tests/http/columns.test.ts'],
  },
  alerts: {
    sources: ['src/notify/alerts/*.ts'],
    tests: ['tests/notify/alerts/*.test.ts', 'tests/http/alert-*.test.ts'],
  },
  access: {
    sources: ['src/http/access.ts', 'src/people/accounts/*.ts'],
    tests: [
      'tests/people/accounts/*.test.ts',
      'tests/http/{access,auth,authorization,frame,scopes,letter,races,pace,peer}.test.ts',
      'tests/http/{bodies,columns,encode,idempotency,idempotency-keys,kept-answers}.test.ts',
    ],
  },
  idempotency: {
    sources: ['src/http/idempotency.ts'],
    tests: ['tests/http/idempotency*.test.ts', 'tests/http/races.test.ts'],
  },
  deliveries: { sources: ['src/notify/webhooks/*.ts'], tests: ['tests/notify/webhooks/*.test.ts'] },
  lexer: {
    sources: ['src/language/1-parse/lexer.ts'],
    tests: ['tests/language/{lexer,parser,manual}.test.ts'],
  },
  checker: { sources: ['src/language/2-check/*.ts'], tests: ['tests/language/*.test.ts'] },
  store: { sources: ['src/store/*.ts'], tests: ['tests/store/*.test.ts', 'tests/market/bar-*.test.ts'] },
  market: {
    sources: ['src/market/**/*.ts'],
    tests: ['tests/market/**/*.test.ts', 'tests/work/workers/import.test.ts'],
  },
  builtins: { sources: ['src/language/builtins/**/*.ts'], tests: ['tests/language/{library,ta}/*.test.ts'] },
  runtime: { sources: ['src/language/runtime/**/*.ts'], tests: ['tests/language/**/*.test.ts'] },
  parser: {
    sources: ['src/language/1-parse/*.ts'],
    tests: ['tests/language/{lexer,parser,manual,outline,format}.test.ts'],
  },
  compiler: { sources: ['src/language/{3-plan,4-generate}/*.ts'], tests: ['tests/language/**/*.test.ts'] },
  backtest: {
    sources: ['src/broker/*.ts'],
    tests: ['tests/broker/*.test.ts', 'tests/work/{runs,scans,sweeps,portfolios}/*.test.ts'],
  },
  postgres: {
    sources: ['src/store/postgres/*.ts'],
    tests: ['tests/store/{postgres,lease,feed,conformance,races,collection}*.test.ts'],
  },
  forward: {
    sources: ['src/work/forward/*.ts', 'src/broker/forward.ts'],
    tests: ['tests/work/forward/*.test.ts', 'tests/broker/forward.test.ts'],
  },
  live: {
    sources: ['src/market/live/*.ts'],
    tests: ['tests/market/live/*.test.ts'],
  },
  portfolios: {
    sources: ['src/work/portfolios/*.ts', 'src/broker/portfolio*.ts', 'src/broker/emulator/pot.ts'],
    tests: ['tests/work/portfolios/*.test.ts', 'tests/broker/portfolio.test.ts'],
  },
  accounts: {
    sources: ['src/people/accounts/*.ts'],
    tests: [
      'tests/people/accounts/*.test.ts',
      'tests/http/{access,auth,authorization,credentials,scopes}.test.ts',
    ],
  },
  limits: {
    sources: ['src/http/{limits,pace,stream-slots,peer}.ts'],
    tests: ['tests/http/{limits,pace,peer,stream}.test.ts'],
  },
  runs: {
    sources: ['src/work/runs/*.ts'],
    tests: ['tests/work/runs/*.test.ts', 'tests/http/{backtests,races,snapshots}.test.ts'],
  },
  engine: { sources: ['src/work/workers/*.ts'], tests: ['tests/work/workers/*.test.ts'] },
  statistics: { sources: ['src/broker/statistics/*.ts'], tests: ['tests/broker/statistics/*.test.ts'] },
  dashboard: { sources: 'tested', tests: ['tests/dashboard/*.test.ts'] },
  ...named(
    'lib',
    'people/ideas',
    'people/scripts',
    'people/watchlists',
    'people/search',
    'people/support',
    'people/errors',
    'people/feeds',
    'people/charts',
    'notify/mail',
    'work/replay',
    'work/scans',
    'work/sweeps',
  ),
}

/** Rooms whose tests lie at the path of their sources, by the last part of it. */
function named(...paths: readonly string[]): Record<string, Room> {
  return Object.fromEntries(
    paths.map((path) => [
      path.slice(path.lastIndexOf('/') + 1),
      { sources: [`src/${path}/*.ts`], tests: [`tests/${path}/*.test.ts`] },
    ]),
  )
}
