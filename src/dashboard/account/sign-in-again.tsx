// The session has ended while the page is open: ask for the password over the page, then repeat the request that failed.

import { signInAgain, user } from '../session.ts'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Field } from '../ui/ui.tsx'
import { signIn } from './entering.ts'
import { OtherWays } from './other-ways.tsx'
import { UserName } from './user-name.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }

const FIELDS = bodyFields('POST /api/auth/sign-in')

export function SignInAgain() {
  const email = user.value?.email ?? ''
  const form = useForm({
    wire: FIELDS,
    start: { password: '' },
    clears: true,
    async send({ password }) {
      await signIn(email, password)
      signInAgain.value?.(true)
    },
  })
  return (
    <FormDialog
      of={form}
      title="Your session is over"
      action={form.busy ? 'One moment…' : 'Sign in'}
      width={400}
      onClose={() => signInAgain.value?.(false)}
    >
      <p class="muted">Sign in again and everything goes on from here. Nothing on this page is lost.</p>
      <UserName />
      <Field
        label={`Password of ${email}`}
        autocomplete="current-password"
        autofocus
        {...form.field('password', { type: 'password' })}
      />
      <OtherWays onDone={() => signInAgain.value?.(true)} />
    </FormDialog>
  )
}
