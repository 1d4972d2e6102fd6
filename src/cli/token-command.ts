// `chartroom token`: API tokens of any account, without signing in: the data directory is credential enough.

import { SCOPES, type Scope } from '../wire/scopes.ts'
import { createToken, listTokens, revokeToken, tokenStatus } from '../people/accounts/tokens.ts'
import {
  parseArguments,
  subcommands,
  UsageError,
  type Command,
  type CommandContext,
  repeated,
  valued,
} from './command.ts'
import { DATA_FLAGS, DATA_HELP, withData } from './data.ts'
import { formatTime, tableLines } from './table.ts'
import { findUser } from './user-command.ts'

const TOKEN_FLAGS = {
  ...DATA_FLAGS,
  ...valued('user', 'name', 'expires-in-days'),
  ...repeated('scope'),
}

export const tokenCommand: Command = {
  name: 'token',
  usage: 'create | list | revoke ID  --user EMAIL',
  summary: 'Create, list and revoke API tokens.',
  help: () =>
    [
      '  token create                Prints the secret, once',
      '  token list',
      '  token revoke ID',
      '',
      '  --user EMAIL         Whose token',
      '  --name NAME          What it is for',
      '  --scope SCOPE        Several may be given, also separated by commas; all = every scope.',
      `                       ${SCOPES.join(' ')}`,
      '  --expires-in-days N  Without it the token does not expire',
      DATA_HELP,
    ].join('\n'),
  run: subcommands('token', {
    create,
    list,
    revoke,
  }),
}

async function create(context: CommandContext): Promise<number> {
  const { flags, email } = flagsOf(context)
  const scopes = scopesOf(flags.scope)
  const days = flags['expires-in-days'] === undefined ? null : Number(flags['expires-in-days'])
  if (days !== null && !(Number.isFinite(days) && days > 0))
    throw new UsageError('--expires-in-days is a number.')
  return withData(context, flags, async ({ accounts }) => {
    const { secret, token } = await createToken(accounts, await findUser(accounts, email), {
      name: flags.name,
      scopes,
      expiresAt: days === null ? null : context.clock.now() + days * 86_400_000,
    })
    context.warn(`${token.id} (${token.name}): ${token.scopes.join(' ')}`)
    context.print(secret)
    return 0
  })
}

async function list(context: CommandContext): Promise<number> {
  const { flags, email } = flagsOf(context)
  return withData(context, flags, async ({ accounts }) => {
    const { items } = await listTokens(accounts, await findUser(accounts, email), { limit: 500 })
    const columns = ['ID', 'NAME', 'STATUS', 'ENDS IN', 'SCOPES', 'LAST USED']
    const rows = items.map((token) => [
      token.id,
      token.name,
      tokenStatus(accounts, token),
      token.last4,
      token.scopes.length === SCOPES.length ? 'all' : token.scopes.join(' '),
      token.lastUsedAt === null ? 'never' : formatTime(token.lastUsedAt),
    ])
    for (const line of tableLines(columns, rows)) context.print(line)
    return 0
  })
}

async function revoke(context: CommandContext): Promise<number> {
  const { flags, email, positionals } = flagsOf(context)
  const [id, ...more] = positionals
  if (id === undefined || more.length > 0) throw new UsageError('Name one token by its id.')
  return withData(context, flags, async ({ accounts }) => {
    const token = await revokeToken(accounts, await findUser(accounts, email), id)
    context.print(`${token.id} (${token.name}) is revoked.`)
    return 0
  })
}

function flagsOf(context: CommandContext) {
  const { flags, positionals } = parseArguments(context.args, TOKEN_FLAGS)
  if (flags.user === undefined) throw new UsageError('Whose? Name the account with --user EMAIL.')
  return { flags, email: flags.user, positionals }
}

/** undefined = the default of a new token. */
function scopesOf(given: readonly string[] | undefined): readonly Scope[] | undefined {
  if (given === undefined) return undefined
  const names = given.flatMap((text) => text.split(',')).map((text) => text.trim())
  if (names.includes('all')) return SCOPES
  return names.map((name) => {
    const scope = SCOPES.find((one) => one === name)
    if (!scope) throw new UsageError(`There is no scope "${name}". There are: ${SCOPES.join(', ')}.`)
    return scope
  })
}
