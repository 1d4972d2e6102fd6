// House rules a type checker cannot see: which room may import which, and what only one file may do.

import { describe, expect, test } from 'bun:test'
import { readFileSync, readdirSync } from 'node:fs'

const root = `${import.meta.dir}/..`

/** Room → rooms it may import; `*` = all. What stands in a line knows only what stands above it. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  // What enters and leaves the server, browser-safe: broker and work speak it too, so it stands below them.
  wire: ['lib'],
  market: ['lib'],
  // `lmdb-bars.ts` implements market's BarStore; market never imports the store.
  store: ['lib', 'market'],
  language: ['lib', 'market'],
  broker: ['lib', 'market', 'wire', 'language'],
  work: ['lib', 'market', 'wire', 'store', 'language', 'broker'],
  // The engine for programs, as the npm package: what browsers and Node run of the rooms above it.
  engine: ['lib', 'market', 'wire', 'language', 'broker', 'work'],
  people: ['lib', 'market', 'wire', 'store', 'language'],
  notify: ['lib', 'market', 'wire', 'store', 'language'],
  http: ['lib', 'market', 'wire', 'store', 'language', 'broker', 'work', 'people', 'notify'],
  // All that is needed to serve, tied together.
  server: ['lib', 'market', 'wire', 'store', 'language', 'work', 'people', 'notify', 'http'],
  // Whole servers in a world that comes out of a seed.
  simulation: ['lib', 'market', 'store', 'broker', 'work', 'people', 'notify', 'http', 'server'],
  dashboard: ['lib', 'market', 'wire', 'language'],
  playground: ['lib', 'market', 'wire', 'language', 'engine', 'dashboard'],
  cli: ['*'],
  'main.ts': ['*'],
  // For developers; nothing of the product imports it.
  tools: ['*'],
}
/** In these rooms a folder is one noun, which knows none of its neighbours but those named here: they meet in `server/`. */
const NEIGHBOURS: Readonly<Record<string, readonly string[]>> = {
  people: [],
  notify: ['webhooks'],
  work: ['workers', 'jobs'],
}
/** Within `language/`, folder by folder. A built-in's signature is written in the types of `2-check`. */
const PHASES: Readonly<Record<string, readonly string[]>> = {
  messages: [],
  libraries: [],
  runtime: ['messages'],
  builtins: ['messages', 'runtime', '2-check'],
  '1-parse': ['messages'],
  '2-check': ['messages', '1-parse', 'builtins', 'runtime', 'libraries'],
  '3-plan': ['2-check', 'builtins', 'runtime'],
  '4-generate': ['messages', '2-check', '3-plan', 'builtins', 'runtime'],
}
/** Package → the places that may import it. */
const ONLY_HERE: Readonly<Record<string, readonly string[]>> = {
  elysia: ['http/'],
  lmdb: ['store/lmdb'],
  minisearch: ['people/search/', 'people/support/'],
  jstat: ['broker/statistics/normal.ts'],
}

/** What stands in a module all the same: there is one of it in a process or in a page, by its nature. */
const MODULE_STATE: Readonly<Record<string, string>> = {
  'dashboard/api-client.ts watch': 'who is told when a call finds the server gone or the session over',
  'dashboard/chart/first-bars.ts early': 'the bars that are on their way before the chart is',
  'dashboard/editor/code-editor.ts typedInto': 'editors of the page that were typed into',
  'dashboard/editor/documents.ts saving': 'the save under way, which the next one waits for',
  'dashboard/editor/documents.ts last': 'the check under way, which the next one ends',
  'dashboard/editor/help.ts language': 'the part of the language that is loaded when it is first asked for',
  'dashboard/first-paint.ts tell': 'the one first paint of the page',
  'dashboard/frame/lazy.tsx isTouched': 'whether anybody has begun anything on the page',
  'dashboard/live.ts listeners': 'who of the page listens to the one stream',
  'dashboard/live.ts say': 'the way to the worker that holds the stream',
  'dashboard/replay/replay-session.ts saving': 'the timer of the one replay of the page',
  'dashboard/replay/replay-session.ts unsaved': 'whether its cursor is still to be saved',
  'dashboard/report-errors.ts recently': 'errors that were reported a moment ago',
  'dashboard/report/repaint.tsx known': 'what was found of the report looked at last',
  'dashboard/run-script.ts current': 'the run under way, which the next one ends',
  'dashboard/run-script.ts asked': 'what was asked for last',
  'dashboard/run-script.ts latest': 'what was sent last, whatever came of it',
  'dashboard/run-script.ts following': 'whether it is run again when bars come',
  'dashboard/session.ts waiting': 'the one dialog to sign in again',
  'dashboard/session.ts declined': 'that it was closed without',
  'dashboard/settings.ts owner': 'whose things the tab shows',
  'dashboard/settings.ts readAgain': 'the signals that another user has values of their own for',
  'dashboard/ui/dialogs.tsx closing': 'what closes the dialog that is being put on the page',
  'dashboard/ui/ui.tsx nextToast': 'the number of the next message',
  'dashboard/watchlists/lists.ts settled': 'the change under way, which the next one waits for',
  'dashboard/watchlists/lists.ts newest': 'arrangements on their way to the server',
  'dashboard/watchlists/quotes.ts symbols': 'symbols that were asked for a moment ago',
  'dashboard/watchlists/quotes.ts symbolsAt': 'when that was',
  'dashboard/watchlists/quotes.ts asked': 'quotes that were asked for a moment ago',
  'lib/turn.ts waiting': 'a thread has one event loop, and so one row of those who wait for it',
  'tools/torture/server.ts alive': 'processes that have to be ended with this one',
}

interface Import {
  readonly file: string
  readonly target: string
  readonly typeOnly: boolean
  /** Loaded where the code asks for it, and not with the file. */
  readonly later: boolean
}

const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(`${root}/src`)].sort()
const imports: Import[] = files.flatMap((file) => {
  const text = readFileSync(`${root}/src/${file}`, 'utf8')
  const found: Import[] = []
  for (const match of text.matchAll(
    /^(?:import|export)\s+(type\s)?[^'"]*?from\s+['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|^import\s+['"]([^'"]+)['"]/gm,
  ))
    found.push({
      file,
      target: match[2] ?? match[3] ?? match[4] ?? '',
      typeOnly: Boolean(match[1]),
      later: match[3] !== undefined,
    })
  return found
})

function roomOf(path: string): string {
  const first = path.split('/')[0] ?? ''
  return first
}

/** The folder of `language/` that a file is in; of what stands above them, the compiler's door is one that none may pass. */
function phaseOf(path: string): string | null {
  if (/^language\/(compile|executable)\.ts$/.test(path)) return 'door'
  const folder = /^language\/([^/]+)\//.exec(path)?.[1]
  return folder !== undefined && folder in PHASES ? folder : null
}

function resolve(file: string, target: string): string | null {
  if (!target.startsWith('.')) return null
  const parts = file.split('/').slice(0, -1)
  for (const part of target.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.') parts.push(part)
  }
  return parts.join('/')
}

describe('rooms', () => {
  test('every folder of src is a room of the table', () => {
    const unknown = new Set(files.map(roomOf).filter((room) => !(room in MAY_IMPORT)))
    expect([...unknown]).toEqual([])
  })

  test('imports follow the table', () => {
    const broken = imports.flatMap(({ file, target }) => {
      const path = resolve(file, target)
      if (path === null || /^node_modules\/|\.(json|pine)$/.test(path)) return []
      const from = roomOf(file)
      const to = roomOf(path)
      const allowed = MAY_IMPORT[from] ?? []
      if (from === to || allowed.includes('*') || allowed.includes(to)) return []
      return [`${file} imports ${target}`]
    })
    expect(broken).toEqual([])
  })

  test('a noun knows none of its neighbours', () => {
    const broken = imports.flatMap(({ file, target }) => {
      const [room = '', from] = file.split('/')
      const [toRoom, to = ''] = resolve(file, target)?.split('/') ?? []
      const known = NEIGHBOURS[room]
      if (known === undefined || toRoom !== room || from === to || known.includes(to)) return []
      return [`${file} imports ${target}`]
    })
    expect(broken).toEqual([])
  })

  test('the rooms of the language follow the phases, and a run knows none of them', () => {
    const broken = imports.flatMap(({ file, target }) => {
      const from = phaseOf(file)
      const to = phaseOf(resolve(file, target) ?? '')
      if (from === null || from === 'door' || to === null || from === to || PHASES[from]?.includes(to))
        return []
      return [`${file} imports ${target}`]
    })
    expect(broken).toEqual([])
  })

  test('a type of the language has a name of its own, whichever phase it belongs to', () => {
    // Nodes of the tree are always written `tree.Block`; built-ins are known by their folder.
    const owners = Map.groupBy(
      files
        .filter((file) => /^language\/(?!builtins\/|1-parse\/tree\.ts)/.test(file))
        .flatMap((file) =>
          [
            ...readFileSync(`${root}/src/${file}`, 'utf8').matchAll(
              /^export (?:abstract )?(?:class|interface|type) (\w+)/gm,
            ),
          ].map(([, name = '']) => ({ name, file })),
        ),
      ({ name }) => name,
    )
    const shared = [...owners].flatMap(([name, all]) =>
      all.length > 1 ? [`${name}: ${all.map(({ file }) => file).join(', ')}`] : [],
    )
    expect(shared).toEqual([])
  })

  test('files import one way only: none imports itself by a detour, not even later', () => {
    const importsOf = Map.groupBy(
      imports.filter(({ typeOnly }) => !typeOnly),
      ({ file }) => file,
    )
    const circles: string[] = []
    const done = new Set<string>()
    const follow = (file: string, path: readonly string[]): void => {
      const start = path.indexOf(file)
      if (start >= 0) circles.push([...path.slice(start), file].join(' → '))
      if (start >= 0 || done.has(file)) return
      for (const { target } of importsOf.get(file) ?? []) {
        const next = resolve(file, target)
        if (next !== null) follow(next, [...path, file])
      }
      done.add(file)
    }
    for (const file of files) follow(file, [])
    expect(circles).toEqual([])
  })

  test('a server starts without the compiler, the broker, and what few servers need', () => {
    const reached = new Map<string, string>([['server/serve.ts', '']])
    for (const file of reached.keys())
      for (const { target, typeOnly, later, file: from } of imports)
        if (from === file && !typeOnly && !later) {
          const next = resolve(file, target) ?? target
          if (!reached.has(next)) reached.set(next, file)
        }
    const unwanted =
      /^(language\/[\w-]+\/(?!limits\.ts)|language\/(?!behaviour\.ts)[\w-]+\.ts|broker\/(run|trial|emulator|compiled)|store\/postgres\/|work\/sweeps\/samplers\/|node:(http|https|zlib)$|nodemailer|jstat)/
    expect([...reached].filter(([file]) => unwanted.test(file)).map((pair) => pair.join(' by '))).toEqual([])
    expect(reached.size).toBeGreaterThan(200)
  })

  test('what changes belongs to an owner: no module keeps state', () => {
    // Caches of pure functions are made by `lib/memo.ts`; tables are typed so that nobody can change them.
    const state =
      /^(?:export )?(?:let|var) (\w+)|^(?:export )?const (\w+)(?:: (?!Readonly)[^=\n]*)? = new (?:Weak)?(?:Map|Set)\b|^(?:export )?const (\w+)(?:: (?!readonly)[^\n]*?)? = \[\]$/gm
    const found = files.flatMap((file) =>
      [...readFileSync(`${root}/src/${file}`, 'utf8').matchAll(state)].map(
        (match) => `${file} ${match[1] ?? match[2] ?? match[3]}`,
      ),
    )
    expect(found).toEqual(Object.keys(MODULE_STATE))
  })

  test('packages stay where they belong', () => {
    const broken = imports.flatMap(({ file, target }) => {
      const name = Object.keys(ONLY_HERE).find((pkg) => target === pkg || target.startsWith(`${pkg}/`))
      if (name === undefined || ONLY_HERE[name]?.some((place) => file.startsWith(place))) return []
      return [`${file} imports ${target}`]
    })
    expect(broken).toEqual([])
  })

  test('only main.ts and tools read environment, clock and randomness', () => {
    const broken = files.flatMap((file) => {
      if (file === 'main.ts' || /^(tools|dashboard|cli|server\/source)\//.test(file)) return []
      const text = readFileSync(`${root}/src/${file}`, 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
      return [
        ...text.matchAll(
          /process\.env|Date\.now\(|new Date\(\)|Math\.random\(|crypto\.getRandomValues|randomUUID/g,
        ),
      ].map((match) => `${file}: ${match[0]}`)
    })
    expect(broken).toEqual([])
  })

  test('timers, network and threads come with the world that a server is handed', () => {
    /** Where they are made for it, and what stands outside of any server. */
    const made: Readonly<Record<string, string>> = {
      'engine/portable/turn.ts': 'the package, in browsers and Node',
      'http/event-wait.ts': 'heartbeats of streams, whose readers no simulation has',
      'notify/webhooks/send.ts': 'the network of webhooks',
      'server/providers-net.ts': 'the network of providers',
      'work/workers/later.ts': 'timers of worker threads, and of pools in a process of their own',
    }
    const reaching = files.filter((file) => {
      if (file === 'main.ts' || /^(tools|dashboard|playground|cli|server\/source)\//.test(file)) return false
      const text = readFileSync(`${root}/src/${file}`, 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
      return /(?<![.\w])(?:setTimeout\(|setInterval\(|fetch\((?!exchange|term)|new WebSocket\(|new Worker\()|\bBun\.sleep\(/.test(
        text,
      )
    })
    expect(reaching).toEqual(Object.keys(made))
  })

  /** Rules stand in RULES.md beside the code that follows them, and are cited by letter and number. */
  test.each([
    [
      'broker/RULES.md',
      'A-JM',
      [
        'src/broker',
        'src/language/broker.ts',
        'src/language/runtime/price-bars.ts',
        'src/market/exchange-rates.ts',
        'tests/broker',
      ],
    ],
    ['language/RULES.md', 'KL', ['src/language', 'tests/language']],
  ] as const)(
    '%s has every rule that is cited, and each is cited or not implemented',
    (rules, letters, places) => {
      const text = readFileSync(`${root}/src/${rules}`, 'utf8')
      const code = new RegExp(`\\b[${letters}][1-9][0-9]?\\b`, 'g')
      const defined = new Map(
        [...text.matchAll(/^- \*\*([A-Z][0-9]+)\*\* (.*)$/gm)].map(([, rule = '', says = '']) => [
          rule,
          says,
        ]),
      )
      const cited = new Set(
        places.flatMap((place) =>
          [...new Bun.Glob(place.endsWith('.ts') ? place : `${place}/**/*.ts`).scanSync(root)].flatMap(
            (file) =>
              // In code a comment cites, in a test its name.
              readFileSync(`${root}/${file}`, 'utf8')
                .split('\n')
                .filter((line) => /^\s*(\/\/|\/?\*)|\/\/ |\brule: '|\btest\('/.test(line))
                .flatMap((line) => line.match(code) ?? []),
          ),
        ),
      )
      expect([...cited].filter((rule) => !defined.has(rule))).toEqual([])
      const idle = [...defined].filter(
        ([rule, says]) => !cited.has(rule) && !says.includes('not implemented'),
      )
      expect(idle.map(([rule]) => rule)).toEqual([])
      expect(defined.size).toBeGreaterThan(10)
    },
  )

  test('what the maps name is there', () => {
    const maps = ['README.md', 'broker/RULES.md', 'language/RULES.md', 'http/DECISIONS.md']
    const known = [...new Bun.Glob('**/*.{ts,tsx,md}').scanSync(`${root}/src`)].map((file) => `/${file}`)
    const gone = maps.flatMap((map) =>
      [...readFileSync(`${root}/src/${map}`, 'utf8').matchAll(/`((?:[\w.-]+\/)*[\w-]+\.(?:tsx?|md))`/g)]
        .map(([, path = '']) => path.replace(/^(\.\.\/)+/, ''))
        .filter((path) => !path.startsWith('tests/') && !known.some((file) => file.endsWith(`/${path}`)))
        .map((path) => `${map}: ${path}`),
    )
    expect(gone).toEqual([])
  })

  test('a file opens with a comment that says what it is for', () => {
    const silent = files.filter((file) => !/^(?:\/\/|\/\*)/.test(readFileSync(`${root}/src/${file}`, 'utf8')))
    expect(silent).toEqual([])
  })

  test('the map of the code names every room', () => {
    const [map = ''] = readFileSync(`${root}/src/README.md`, 'utf8').split('\n## ')
    const named = new Set(Array.from(map.matchAll(/[\w.]+(?=[/`])/g), ([room]) => room))
    expect(Object.keys(MAY_IMPORT).filter((room) => !named.has(room))).toEqual([])
  })

  test('what the code takes from data/ is part of a clone and of an image', () => {
    const named = (file: string) =>
      readFileSync(`${root}/src/${file}`, 'utf8').matchAll(/\.\.\/data\/(\w+)\//g)
    const folders = new Set(files.flatMap((file) => Array.from(named(file), ([, name]) => name!)))
    expect([...folders].toSorted()).toEqual(['indicators', 'samples'])
    const lines = (file: string) => readFileSync(`${root}/${file}`, 'utf8').split('\n')
    expect(lines('.gitignore')).toEqual(expect.arrayContaining([...folders].map((name) => `!/data/${name}/`)))
    expect(lines('.dockerignore')).toEqual(
      expect.arrayContaining([...folders].map((name) => `!data/${name}`)),
    )
  })

  test('the top level is what a stranger can take in at a glance', () => {
    const made = new Set(['dist', 'node_modules'])
    const shown = readdirSync(root).filter((name) => !name.startsWith('.') && !made.has(name))
    expect(shown.toSorted()).toEqual([
      'CHANGELOG.md',
      'Dockerfile',
      'LICENSE',
      'NOTICE',
      'README.md',
      'bun.lock',
      'bunfig.toml',
      'data',
      'package.json',
      'src',
      'tests',
      'tsconfig.json',
    ])
  })

  test('nothing cites a text that a clone does not have', () => {
    const elsewhere =
      /\b(STACK|STYLE|decisions|architecture|house|http-api|broker-rules)\.md\b|\bthe contract['’]s\b|§/
    const texts = ['src', 'tests'].flatMap((place) =>
      [...new Bun.Glob(`${place}/**/*.{ts,tsx,md}`).scanSync(root)].filter(
        (file) => file !== 'tests/tidy.test.ts',
      ),
    )
    const citing = [...texts, 'README.md'].filter((file) =>
      elsewhere.test(readFileSync(`${root}/${file}`, 'utf8')),
    )
    expect(citing).toEqual([])
  })

  test('tables and forms of the dashboard are made by its data table and its form', () => {
    /** Cells that are buttons in a grid; a table in a text; what is typed is no field of the wire. */
    const byHand = [
      'sweeps/heat-map.tsx',
      'ui/markdown-view.tsx',
      'chart/date-dialog.tsx',
      'drawings/style-templates.tsx',
      'replay/replay-drawer.tsx',
      'watchlists/add-symbol.tsx',
    ]
    const made = files.filter(
      (file) =>
        file.startsWith('dashboard/') &&
        !/\/ui\/(data-table|form)\.tsx$/.test(file) &&
        /<(table|form)\b/.test(readFileSync(`${root}/src/${file}`, 'utf8')),
    )
    expect(made).toEqual(byHand.map((file) => `dashboard/${file}`).toSorted())
  })

  test('suites keep what they store where they are told to: a run over PostgreSQL leaves none of them out', () => {
    /**
     * About data directories or each store by its name, about a provider through thousands of requests, or about the
     * cache, whose tests say what it asks of the store and write in an order that a database would not keep.
     */
    const byHand = [
      'cli/copy.test.ts',
      'cli/restore.test.ts',
      'cli/run.ts',
      'executable/doctor.test.ts',
      'executable/refusals.test.ts',
      'http/credentials.test.ts',
      'market/bar-cache.test.ts',
      'market/bar-runs.test.ts',
      'market/bar-store.test.ts',
      'notify/alerts/disk-alerts.ts',
    ]
    const suites = [...new Bun.Glob('**/*.ts').scanSync(`${root}/tests`)].filter(
      (file) => !/^store\/|^tidy\.|bench/.test(file),
    )
    const opening = suites.filter((file) =>
      /\b(memoryKv|memoryBars|lmdbKv|lmdbBars|openStore)\(/.test(
        readFileSync(`${root}/tests/${file}`, 'utf8'),
      ),
    )
    expect(opening.toSorted()).toEqual(byHand)
  })

  test('the lock file names no registry', () => {
    expect(readFileSync(`${root}/bun.lock`, 'utf8')).not.toContain('://')
  })
})
