// `chartroom script`: libraries that scripts import, without signing in: the data directory is credential enough.

import { librariesOf } from '../work/workers/libraries.ts'
import { wireDiagnostic } from '../broker/run.ts'
import { compile } from '../language/compile.ts'
import { Source } from '../language/source.ts'
import { Scripts, libraryFor } from '../people/scripts/scripts.ts'
import {
  onlyOf,
  parseArguments,
  parseFlags,
  subcommands,
  UsageError,
  type Command,
  type CommandContext,
  valued,
} from './command.ts'
import { DATA_FLAGS, DATA_HELP, withData } from './data.ts'
import { diagnosticLines } from './diagnostics-text.ts'
import { readScript } from './script-file.ts'
import { LIBRARY_PATH } from '../wire/script.ts'
import { WantedLibraries } from '../people/scripts/wanted-libraries.ts'
import { right, tableLines } from './table.ts'
import { findUser } from './user-command.ts'

const PATH = new RegExp(LIBRARY_PATH)

const WANTED_COLUMNS = ['library', right('users'), right('times asked')] as const

const SCRIPT_FLAGS = { ...DATA_FLAGS, ...valued('user', 'as') }

export const scriptCommand: Command = {
  name: 'script',
  usage: 'add-library FILE --as USER/LIBRARY/VERSION --user EMAIL | wanted-libraries',
  summary: 'Add a library that scripts import, and list those they miss.',
  help: () =>
    [
      '  script add-library FILE   Its source, kept as it is; - is standard input',
      '  script wanted-libraries   Those that scripts asked for and did not find, most wanted first',
      '',
      '  --as PATH            What scripts import it by, such as TradingView/ta/7',
      '  --user EMAIL         Whose scripts import it',
      DATA_HELP,
    ].join('\n'),
  run: subcommands('script', { 'add-library': addLibrary, 'wanted-libraries': wantedLibraries }),
}

async function wantedLibraries(context: CommandContext): Promise<number> {
  const flags = parseFlags(context.args, DATA_FLAGS)
  return withData(context, flags, async ({ kv, accounts: { clock, newId } }) => {
    const wanted = await new WantedLibraries({ kv, clock, newId, log: () => {} }).list()
    if (wanted.length === 0) context.print('No script has asked for a library that is not here.')
    else {
      const rows = wanted.map(({ path, users, asked }) => [path, String(users), String(asked)])
      for (const line of tableLines(WANTED_COLUMNS, rows)) context.print(line)
    }
    return 0
  })
}

async function addLibrary(context: CommandContext): Promise<number> {
  const { flags, positionals } = parseArguments(context.args, SCRIPT_FLAGS)
  const file = onlyOf(positionals, 'file')
  const { as: path, user: email } = flags
  if (path === undefined || !PATH.test(path))
    throw new UsageError('--as is the path scripts import it by, such as TradingView/ta/7.')
  if (email === undefined) throw new UsageError('--user is the e-mail of whose scripts import it.')
  const { name, source } = await readScript(context, file)
  return withData(context, flags, async ({ kv, accounts }) => {
    const user = await findUser(accounts, email)
    const libraries = await librariesOf(source, { library: libraryFor(kv, user.id) })
    const library = (author: string, title: string, version: number) =>
      libraries.get(`${author}/${title}/${version}`) ?? null
    const { script, diagnostics } = compile(source, { library })
    const text = new Source(source)
    const wire = diagnostics.map((one) => wireDiagnostic(one, text))
    for (const line of diagnosticLines(name, source, wire, context.warningInk)) context.warn(line)
    const kind = script?.program.declaration.kind ?? 'draft'
    if (kind !== 'library') {
      context.warn(
        `${name} is ${kind === 'draft' ? 'not a library that compiles' : `a ${kind}, no library`}.`,
      )
      return 1
    }
    const scripts = new Scripts({
      kv,
      clock: context.clock,
      newId: accounts.newId,
      examine: () =>
        Promise.resolve({
          kind,
          pineVersion: script?.program.version ?? null,
          diagnostics: JSON.stringify(wire),
        }),
    })
    const made = await scripts.addLibrary(user.id, user.name, path, source)
    await scripts.noteAdded(made.script)
    context.print(`Scripts of ${user.email} import ${path} from now on.`)
    return 0
  })
}
