// The settings of a channel: checked as its kind wants them, and what is secret of them sealed.

import { invalidField, Problem } from '../../lib/problem.ts'
import { parseReceiverUrl, permittedAddresses } from '../webhooks/address.ts'
import { UnreadableSecret } from '../webhooks/send.ts'
import type { Channel, ChannelPostDeps } from './channel.ts'
import { PLAIN, type ChannelKind, type Notice, type Settings } from './kind.ts'
import { KINDS } from './kinds.ts'

type Kept = Pick<Channel, 'settings' | 'sealedSecrets' | 'secrets'>

/** The settings as they are kept: what is secret in a sealed box. */
export async function sealedSettings(
  deps: ChannelPostDeps,
  kind: ChannelKind,
  id: string,
  settings: Settings,
): Promise<Kept> {
  await checkAddress(deps, kind, settings)
  const isSecret = (name: string) => kind.fields[name]?.secret === true && settings[name] !== ''
  const names = Object.keys(settings)
  const secrets = names.filter(isSecret)
  const some = (chosen: readonly string[]) =>
    Object.fromEntries(chosen.map((name) => [name, settings[name] ?? '']))
  return {
    settings: some(names.filter((name) => kind.fields[name]?.secret !== true)),
    sealedSecrets: await deps.box.seal(JSON.stringify(some(secrets)), id),
    secrets,
  }
}

/** The same after a change. Settings that are not given stay, as far as they can be read and go to the same server. */
export async function changedSettings(
  deps: ChannelPostDeps,
  before: Channel,
  given: Settings,
): Promise<Kept> {
  const kind = KINDS[before.kind]
  const kept = await settingsOf(deps.box, before).catch((error: unknown) => {
    if (!(error instanceof UnreadableSecret)) throw error
    refuseLost(kind, before.secrets, given)
    return openSettingsOf(before)
  })
  const settings = checkedSettings(kind, { ...kept, ...given })
  refuseMoved(kind, kept, settings, given)
  return sealedSettings(deps, kind, before.id, settings)
}

/** Those of a channel that comes from elsewhere without its secrets; all of which it waits for. */
export async function withoutSecrets(
  { box }: ChannelPostDeps,
  { fields }: ChannelKind,
  id: string,
  given: Settings,
): Promise<Kept> {
  const secrets = secretNames(fields)
  const shown = Object.keys(fields).filter((name) => !secrets.includes(name))
  return {
    settings: Object.fromEntries(shown.map((name) => [name, given[name] ?? ''])),
    sealedSecrets: await box.seal('{}', id),
    secrets,
  }
}

export const secretNames = (fields: ChannelKind['fields']): string[] =>
  Object.keys(fields).filter((name) => fields[name]?.secret === true)

/** What comes along when something is copied from a page or a chat: blanks, and signs that nobody sees. */
const AROUND = /^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu

/** The settings with their defaults. Throws Problem 422 that names the one that is missing, unknown or malformed. */
export function checkedSettings({ label, fields, mistake }: ChannelKind, given: Settings): Settings {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(fields, name))
      throw invalidField(
        `/settings/${name}`,
        'unknown_field',
        `${label} has no such setting; it has ${Object.keys(fields).join(', ')}.`,
      )
  const settings = Object.fromEntries(
    Object.entries(fields).map(([name, { label: called, required, form, default: usual = '' }]) => {
      const value = given[name]?.replace(AROUND, '') || usual
      if (value === '' && required)
        throw invalidField(`/settings/${name}`, 'required', `${label} needs this: ${called}.`)
      if (value !== '' && form && !form[0].test(value))
        throw invalidField(`/settings/${name}`, 'format', `${called} must be ${form[1]}.`)
      return [name, value]
    }),
  )
  const wrong = mistake?.(settings)
  if (wrong) throw invalidField(`/settings/${wrong.field}`, 'format', wrong.message)
  return settings
}

export async function settingsOf(box: ChannelPostDeps['box'], channel: Channel): Promise<Settings> {
  if (channel.secrets.length === 0) return openSettingsOf(channel)
  const opened = await box.open(channel.sealedSecrets, channel.id).catch(() => {
    throw new UnreadableSecret('channel')
  })
  return { ...openSettingsOf(channel), ...(JSON.parse(opened) as Settings) }
}

/** What is not secret, with the defaults of settings that a later version added. */
export function openSettingsOf({ kind, settings }: Channel): Settings {
  const usual = Object.entries(KINDS[kind].fields).map(([name, field]) => [name, field.default ?? ''])
  return { ...Object.fromEntries(usual), ...settings }
}

/** Throws Problem 422 that names the lost secrets that are not given. An empty one takes an optional secret away. */
function refuseLost({ fields }: ChannelKind, secrets: readonly string[], given: Settings): void {
  const missing = secrets.filter((name) => given[name] === undefined)
  if (missing.length === 0) return
  throw askedAgain(
    missing,
    (name) =>
      `${fields[name]?.label ?? name} can no longer be read, since the key of the server has changed. Enter it again.`,
  )
}

/** Throws Problem 422 if the address leads to another server, which would be sent stored secrets that are not given. */
function refuseMoved(kind: ChannelKind, kept: Settings, settings: Settings, given: Settings): void {
  const { fields, address } = kind
  const missing = Object.keys(fields).filter(
    (name) => fields[name]?.secret && name !== address && kept[name] && given[name] === undefined,
  )
  const originOf = (of: Settings) => URL.parse(kind.request(of, SAMPLE, 'ntc_0').url)?.origin
  if (missing.length === 0 || originOf(kept) === originOf(settings)) return
  throw askedAgain(
    missing,
    (name) =>
      `${fields[address]?.label ?? address} is another server now, which is not sent what was entered for the old one. Enter ${fields[name]?.label ?? name} again.`,
  )
}

function askedAgain(missing: readonly string[], message: (name: string) => string): Problem {
  return new Problem(422, 'validation_failed', message(missing[0] ?? ''), {
    fields: missing.map((name) => ({
      in: 'body',
      path: `/settings/${name}`,
      code: 'required',
      message: message(name),
    })),
  })
}

const SAMPLE: Notice = { title: '', text: '', url: null, at: 0, ...PLAIN }

async function checkAddress(deps: ChannelPostDeps, kind: ChannelKind, settings: Settings) {
  const { allow, resolve } = deps
  const request = kind.request(settings, SAMPLE, 'ntc_0')
  try {
    const url = parseReceiverUrl(request.url, allow)
    await permittedAddresses(url, allow, resolve)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    // The rules are those of webhooks; the field is one of the settings.
    throw invalidField(`/settings/${kind.address}`, error.code, error.message)
  }
  await kind.finish?.(request, settings, deps.tools).catch((error: unknown) => {
    // This is what Web Crypto throws for a key that is not one.
    if (!(error instanceof DOMException)) throw error
    throw invalidField('/settings/p256dh', 'format', 'This is not the public key of a browser.')
  })
}
