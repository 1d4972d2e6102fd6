// The caller's account: name, password and open sessions; for the owner also the other users and invitations.

import { useState } from 'preact/hooks'
import type { Session } from '../../wire/account.ts'
import { call } from '../api-client.ts'
import { ago } from '../format.ts'
import { href } from '../router.ts'
import { user, type User } from '../session.ts'
import { PICTURES } from '../channels/pictures.ts'
import { browserName } from '../channels/this-browser.ts'
import { signOut } from './entering.ts'
import { UserName } from './user-name.tsx'
import { PASSWORD_HINT } from '../ui/field-words.ts'
import { Form, useForm } from '../ui/form.tsx'
import { Badge, Button, Field, Select, toast } from '../ui/ui.tsx'
import { bodyFields, rowFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { attempt, pageStyles as p, Secret, useAnswer } from '../frame/page.tsx'
import s from './settings.module.css'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'
import { Section } from '../frame/section.tsx'
import { LoadedTable } from '../ui/loaded-table.tsx'

const NAME_FIELDS = bodyFields('PATCH /api/auth/user')
const PASSWORD_FIELDS = bodyFields('POST /api/auth/password')
const SESSION_FIELDS = rowFields('GET /api/auth/sessions', 'sessions')
const USER_FIELDS = rowFields('GET /api/auth/users', 'users')

export function Profile() {
  const me = user.value
  const mails = useAnswer('GET /api/platform/alerts/outbox', { query: { limit: 1 } }, 'mailServer')
  const sessions = useAnswer('GET /api/auth/sessions', {}, 'sessions')
  if (!me) return null
  const end = ({ id }: Session) =>
    attempt(call('DELETE /api/auth/sessions/{id}', { path: { id } }), sessions.reload)
  const endOthers = () =>
    attempt(call('DELETE /api/auth/sessions'), () => {
      toast('All other sessions are over', { tone: 'up' })
      sessions.reload()
    })
  return (
    <>
      <Section title={me.name}>
        <p>
          {me.email}
          {me.role === 'owner' && (
            <>
              {' '}
              <Badge tone="accent">owner of this server</Badge>
            </>
          )}
        </p>
        <Button onClick={() => attempt(signOut())}>Sign out</Button>
      </Section>
      <Name />
      {mails.data && <MailPicture />}
      <Password onChanged={sessions.reload} />
      <Section title="Sessions">
        <p>Browsers that are signed in as you. They end after seven days without a visit.</p>
        <LoadedTable
          label="Sessions"
          of={sessions}
          wire={SESSION_FIELDS}
          columns={({ own, actions }) => [
            own('userAgent', 'Browser', 'main', browserCell, {
              title: (one) => one.userAgent,
              sort: browserOf,
            }),
            { of: 'createdAt', head: 'Signed in' },
            { of: 'lastSeenAt', head: 'Last seen' },
            actions('End', (one) =>
              buttons([!one.current && item('End', '', () => end(one))], 'small quiet'),
            ),
          ]}
        />
        {sessions.data && sessions.data.length > 1 && (
          <p style={{ marginTop: '12px' }}>
            <Button onClick={endOthers}>End all others</Button>
          </p>
        )}
      </Section>
      {me.role === 'owner' && <Members />}
      {me.role === 'owner' && <Invitation />}
    </>
  )
}

const browserOf = ({ userAgent }: Session) => browserName(userAgent, userAgent.slice(0, 60) || 'Unknown')

const browserCell = (session: Session) => (
  <span>
    {browserOf(session)} {session.current && <Badge tone="up">this one</Badge>}
  </span>
)

function Name() {
  const form = useForm({
    wire: NAME_FIELDS,
    start: { name: user.value?.name ?? '' },
    async send(body) {
      user.value = (await call('PATCH /api/auth/user', { body })).user
      toast('Your name is changed', { tone: 'up' })
    },
  })
  return (
    <Section title="Name" about="Shown beside your public scripts and ideas.">
      <Form of={form} action="Change the name" disabled={!form.changed} class={s.form}>
        <Field label="Name" autocomplete="name" {...form.field('name', { required: true })} />
      </Form>
    </Section>
  )
}

const MailPicture = () => (
  <Section class={s.form} title="E-mails of alerts">
    <Select
      label="Chart picture"
      value={user.value?.mailPicture ?? 'dark'}
      options={PICTURES}
      onChange={(mailPicture) =>
        attempt(
          call('PATCH /api/auth/user', { body: { mailPicture } }),
          (answer) => (user.value = answer.user),
        )
      }
    />
  </Section>
)

function Password({ onChanged }: { readonly onChanged: () => void }) {
  const ways = useAnswer('GET /api/auth/ways', {})
  const hasNone = ways.data?.password === false
  const form = useForm({
    wire: PASSWORD_FIELDS,
    start: { password: '', newPassword: '' },
    clears: true,
    async send({ password, newPassword }) {
      const body = hasNone ? { newPassword } : { password, newPassword }
      await call('POST /api/auth/password', { body })
      ways.reload()
      toast('The password is changed; all other sessions are over', { tone: 'up' })
      onChanged()
    },
  })
  return (
    <Section title="Password">
      <p>
        {hasNone
          ? 'You have none, and sign in by other ways. Setting one ends every other session.'
          : 'Changing it ends every other session.'}{' '}
        <a href={href('/settings/sign-in')}>Passkeys and other ways to sign in</a>
      </p>
      <Form of={form} action={hasNone ? 'Set a password' : 'Change the password'} class={s.form}>
        <UserName />
        {!hasNone && (
          <Field
            label="Current password"
            autocomplete="current-password"
            {...form.field('password', { type: 'password', required: true })}
          />
        )}
        <Field
          label="New password"
          autocomplete="new-password"
          hint={PASSWORD_HINT}
          {...form.field('newPassword', { type: 'password' })}
        />
      </Form>
    </Section>
  )
}

const ROLES = [
  ['member', 'Member'],
  ['admin', 'Admin'],
] as const

/** All accounts; only the owner sees them. */
function Members() {
  const accounts = useAnswer('GET /api/auth/users', {}, 'users')
  const give = ({ id, name }: User, role: 'admin' | 'member') =>
    attempt(call('PATCH /api/auth/users/{id}', { path: { id }, body: { role } }), () => {
      toast(`${name} is ${role === 'admin' ? 'an admin' : 'a member'} now`, { tone: 'up' })
      accounts.reload()
    })
  return (
    <Section title="Members">
      <p>
        What you and admins import is everybody's, and yours to change. A member's bars are the member's own.
      </p>
      <LoadedTable
        label="Members"
        of={accounts}
        wire={USER_FIELDS}
        columns={({ own }) => [
          { of: 'name', head: 'Name', look: 'main' },
          { of: 'email', head: 'E-mail', look: 'muted' },
          own('role', 'Role', '', (one) =>
            one.role === 'owner' ? (
              <Badge tone="accent">owner</Badge>
            ) : (
              <Select
                label={`Role of ${one.name}`}
                hideLabel
                value={one.role}
                options={ROLES}
                onChange={(role) => give(one, role)}
              />
            ),
          ),
        ]}
      />
    </Section>
  )
}

function Invitation() {
  const [link, setLink] = useState<{ url: string; expiresAt: number } | null>(null)
  return (
    <Section title="Invite somebody" about="A link lets one person sign up, within a week.">
      {link ? (
        <div class={`${p['form']} ${s.form}`} style={{ maxWidth: '620px' }}>
          <Secret value={link.url} label="Invitation link" />
          <span class="muted">Shown once. It works {ago(link.expiresAt).replace('in', 'for')}.</span>
        </div>
      ) : (
        buttons([item('Make a link', 'plus', () => attempt(call('POST /api/auth/invitations'), setLink))])
      )}
    </Section>
  )
}
