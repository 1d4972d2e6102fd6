// `chartroom user`: accounts, without signing in: the data directory is credential enough.

import { type AccountDeps, GIVEN_ROLES, type User, users } from '../people/accounts/accounts.ts'
import { identitiesOf } from '../people/accounts/identities.ts'
import { passkeysOf } from '../people/accounts/passkeys.ts'
import { addUser, emailKey, setPassword, setRole } from '../people/accounts/users.ts'
import {
  onlyOf,
  parseArguments,
  parseFlags,
  subcommands,
  UsageError,
  type Command,
  type CommandContext,
  switched,
  valued,
} from './command.ts'
import { DATA_FLAGS, DATA_HELP, withData } from './data.ts'
import { formatTime, tableLines } from './table.ts'

export const userCommand: Command = {
  name: 'user',
  usage: 'add EMAIL [--name NAME] | list | reset-password EMAIL | role EMAIL ROLE',
  summary: 'Add and list accounts, reset a password, and make admins.',
  help: () =>
    [
      '  user add EMAIL              The first one is the owner',
      '  user list',
      '  user reset-password EMAIL   Ends all sessions of the account',
      `  user role EMAIL ROLE        ${GIVEN_ROLES.join(' or ')}; what admins import is everybody's`,
      '',
      '  --name NAME          Shown to others',
      '  --password-stdin     Read the password from standard input; without it one is made and printed',
      DATA_HELP,
    ].join('\n'),
  run: subcommands('user', {
    add,
    list,
    'reset-password': resetPassword,
    role,
  }),
}

const USER_FLAGS = { ...DATA_FLAGS, ...valued('name'), ...switched('password-stdin') }

async function add(context: CommandContext): Promise<number> {
  const { email, flags } = emailOf(context)
  const { password, made } = await passwordOf(context, flags['password-stdin'] ?? false)
  return withData(context, flags, async ({ accounts }) => {
    const user = await addUser(accounts, { email, password, name: flags.name })
    context.print(`${user.email} can sign in now (${user.role}).`)
    if (made) context.print(`Password: ${password}`)
    return 0
  })
}

async function resetPassword(context: CommandContext): Promise<number> {
  const { email, flags } = emailOf(context)
  const { password, made } = await passwordOf(context, flags['password-stdin'] ?? false)
  return withData(context, flags, async ({ accounts }) => {
    const user = await findUser(accounts, email)
    await setPassword(accounts, user.id, password)
    context.print(`${user.email} has a new password; all sessions are ended.`)
    const others =
      (await passkeysOf(accounts, user.id)).length + (await identitiesOf(accounts, user.id)).length
    if (others > 0)
      context.print(
        `It keeps its other ways to sign in (${others}): Settings, Sign-in shows and removes them.`,
      )
    if (made) context.print(`Password: ${password}`)
    return 0
  })
}

async function list(context: CommandContext): Promise<number> {
  const flags = parseFlags(context.args, DATA_FLAGS)
  return withData(context, flags, async ({ accounts }) => {
    const columns = ['E-MAIL', 'NAME', 'ROLE', 'SINCE (UTC)', 'ID']
    const rows = (await Array.fromAsync(users(accounts.kv).each())).map((user) => [
      user.email,
      user.name,
      user.role,
      formatTime(user.createdAt),
      user.id,
    ])
    for (const line of tableLines(columns, rows)) context.print(line)
    return 0
  })
}

async function role(context: CommandContext): Promise<number> {
  const { flags, positionals } = parseArguments(context.args, DATA_FLAGS)
  const [email, name, ...more] = positionals
  const given = GIVEN_ROLES.find((one) => one === name)
  if (email === undefined || !given || more.length > 0)
    throw new UsageError(`Name one e-mail address and a role: ${GIVEN_ROLES.join(' or ')}.`)
  return withData(context, flags, async ({ accounts }) => {
    const user = await setRole(accounts, (await findUser(accounts, email)).id, given)
    context.print(`${user.email} is ${given === 'admin' ? 'an admin' : 'a member'} now.`)
    return 0
  })
}

/** Throws UsageError if there is no such user. */
export async function findUser(accounts: AccountDeps, email: string): Promise<User> {
  const user = await users(accounts.kv).find('email', [emailKey(email)])
  if (!user)
    throw new UsageError('There is no account with this e-mail address. `chartroom user list` shows them.')
  return user
}

function emailOf(context: CommandContext) {
  const { flags, positionals } = parseArguments(context.args, USER_FLAGS)
  const email = onlyOf(positionals, 'e-mail address')
  return { email, flags }
}

async function passwordOf({ random, input }: CommandContext, fromInput: boolean) {
  if (!fromInput) return { password: Buffer.from(random.bytes(15)).toString('base64url'), made: true }
  const text = (await input?.()) ?? ''
  return { password: text.replace(/\r?\n$/, ''), made: false }
}
