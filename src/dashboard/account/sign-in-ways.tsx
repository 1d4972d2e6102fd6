// The ways in which the user can sign in beside a password: passkeys, and identities of the server's identity provider.

import type { ComponentProps } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Identity, Passkey } from '../../wire/sign-in-way.ts'
import { call } from '../api-client.ts'
import { ago } from '../format.ts'
import { askFirst, attempt, pageStyles as p, Show, useAnswer } from '../frame/page.tsx'
import { href } from '../router.ts'
import { DataTable } from '../ui/data-table.tsx'
import { openDialog } from '../ui/dialogs.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Empty, Field, toast } from '../ui/ui.tsx'
import { bodyFields, rowFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { addPasskey, hasPasskeys } from './passkey.ts'
import { comeBack, isBack, leaveToLink } from './provider.ts'
import { UserName } from './user-name.tsx'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'
import { Section } from '../frame/section.tsx'

const PASSKEY_FIELDS = rowFields('GET /api/auth/ways', 'passkeys')
const IDENTITY_FIELDS = rowFields('GET /api/auth/ways', 'identities')
const NAME_FIELDS = bodyFields('PATCH /api/auth/passkeys/{id}')

export function SignInWays() {
  const ways = useAnswer('GET /api/auth/ways', {})
  useEffect(() => {
    if (!isBack()) return
    attempt(comeBack(), (linked) => {
      if (linked) toast('It is linked: you can sign in with it from now on', { tone: 'up' })
      ways.reload()
    })
  }, [])
  const add = (asksPassword: boolean) => openDialog(<AddPasskey asksPassword={asksPassword} />, ways.reload)
  return (
    <Show of={ways}>
      {({ password, provider, passkeysRefused, passkeys, identities }) => (
        <>
          <Section title="Passkeys">
            <p>
              Sign in with your fingerprint, face or PIN instead of a password.{' '}
              <a href={href('/help/passkeys')}>How passkeys work</a>
            </p>
            {passkeysRefused === null && hasPasskeys() ? (
              <div class={p['actions']} style={{ marginBottom: '16px' }}>
                {buttons([item('Add a passkey', 'plus', () => add(password), { primary: true })])}
              </div>
            ) : (
              <p role="note">{passkeysRefused ?? 'This browser has no passkeys, or is too old for them.'}</p>
            )}
            <Passkeys of={passkeys} onChanged={ways.reload} />
          </Section>
          {(provider !== null || identities.length > 0) && (
            <Section title={provider ?? 'Identity provider'}>
              <p>
                {provider === null
                  ? 'This server has no identity provider any more; these sign nobody in.'
                  : 'What is linked here signs you in without a password.'}{' '}
                <a href={href('/help/openid')}>How it works</a>
              </p>
              {provider !== null && (
                <div class={p['actions']} style={{ marginBottom: '16px' }}>
                  {buttons([
                    item(`Link ${provider}`, 'plus', () =>
                      openDialog(<Link provider={provider} asksPassword={password} />),
                    ),
                  ])}
                </div>
              )}
              <Identities of={identities} onChanged={ways.reload} />
            </Section>
          )}
        </>
      )}
    </Show>
  )
}

interface ListProps<T> {
  readonly of: readonly T[]
  readonly onChanged: () => void
}

function Passkeys({ of, onChanged }: ListProps<Passkey>) {
  const rename = (passkey: Passkey) => openDialog(<Rename passkey={passkey} />, onChanged)
  const remove = ({ id, name }: Passkey) =>
    askFirst({
      title: `Remove “${name}”?`,
      text: 'It signs you in no more. Your device still shows it: remove it there as well.',
      action: 'Remove passkey',
      run: () => call('DELETE /api/auth/passkeys/{id}', { path: { id } }).then(onChanged),
    })
  return (
    <DataTable
      label="Passkeys"
      rows={of}
      wire={PASSKEY_FIELDS}
      empty={<Empty title="No passkeys yet">A passkey cannot be guessed, and no other site gets it.</Empty>}
      columns={({ own, actions }) => [
        own('name', 'Name', 'main', (passkey) => (
          <>
            <span>{passkey.name}</span>
            <span class={p['cellNote']}>
              for {passkey.host}
              {passkey.isSynced && ', on all your devices'}
            </span>
          </>
        )),
        { of: 'createdAt', head: 'Added', cell: (one) => ago(one.createdAt) },
        { of: 'lastUsedAt', head: 'Last used', empty: 'never' },
        actions('Change', (passkey) =>
          buttons(
            [
              item('Rename', '', () => rename(passkey), { label: `Rename ${passkey.name}` }),
              item('Remove', '', () => remove(passkey), { danger: true, label: `Remove ${passkey.name}` }),
            ],
            'small quiet',
          ),
        ),
      ]}
    />
  )
}

function Identities({ of, onChanged }: ListProps<Identity>) {
  const unlink = ({ id }: Identity) =>
    askFirst({
      title: 'Unlink this identity?',
      text: 'It signs you in no more, until you link it again.',
      action: 'Unlink',
      run: () => call('DELETE /api/auth/identities/{id}', { path: { id } }).then(onChanged),
    })
  return (
    <DataTable
      label="Identities"
      rows={of}
      wire={IDENTITY_FIELDS}
      empty={<Empty title="Nothing linked yet">Link yourself, whatever address you have there.</Empty>}
      columns={({ actions }) => [
        { of: 'email', head: 'E-mail there', look: 'main', empty: 'not told' },
        { of: 'issuer', head: 'Of', look: 'muted' },
        { of: 'lastUsedAt', head: 'Last used', empty: 'never' },
        actions('Unlink', (identity) =>
          buttons([item('Unlink', '', () => unlink(identity), { danger: true })], 'small'),
        ),
      ]}
    />
  )
}

function AddPasskey({ asksPassword }: { readonly asksPassword: boolean }) {
  const form = useForm({
    wire: NAME_FIELDS,
    start: { name: '', password: '' },
    async send({ name, password }) {
      await addPasskey(name, password)
      toast('You can sign in with this passkey from now on', { tone: 'up' })
    },
  })
  return (
    <FormDialog
      of={form}
      title="Add a passkey"
      action={form.busy ? 'Your browser asks you…' : 'Go on'}
      width={420}
    >
      <p class="muted">Your browser asks where to keep it: on this device, a phone, or a key.</p>
      <Field
        label="Name"
        autocomplete="off"
        autofocus
        placeholder="Phone, laptop, blue key"
        {...form.field('name')}
      />
      {asksPassword && <PasswordField {...form.field('password', { type: 'password' })} />}
    </FormDialog>
  )
}

function Link({ provider, asksPassword }: { provider: string; asksPassword: boolean }) {
  const form = useForm({ start: { password: '' }, send: ({ password }) => leaveToLink(password) })
  return (
    <FormDialog of={form} title={`Link ${provider}`} action={`Go to ${provider}`} width={420}>
      <p class="muted">Sign in there as you do. You come back here, and what you signed in with is linked.</p>
      {asksPassword && <PasswordField autofocus {...form.field('password', { type: 'password' })} />}
    </FormDialog>
  )
}

const PasswordField = (props: Omit<ComponentProps<typeof Field>, 'label'>) => (
  <>
    <UserName />
    <Field label="Your password" autocomplete="current-password" {...props} />
  </>
)

function Rename({ passkey }: { readonly passkey: Passkey }) {
  const form = useForm({
    wire: NAME_FIELDS,
    start: { name: passkey.name },
    send: (body) => call('PATCH /api/auth/passkeys/{id}', { path: { id: passkey.id }, body }),
  })
  return (
    <FormDialog of={form} title="Rename the passkey" action="Rename" width={420}>
      <Field label="Name" autocomplete="off" autofocus {...form.field('name')} />
    </FormDialog>
  )
}
