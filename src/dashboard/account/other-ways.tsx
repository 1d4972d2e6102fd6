// Beside the password: the identity provider of this server, and passkeys. Loaded once the page of the password is there.

import { useEffect, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { FormProblem } from '../ui/form.tsx'
import { Button } from '../ui/ui.tsx'
import { hasPasskeys, signInWithPasskey } from './passkey.ts'
import { comeBack, isBack, leaveToSignIn } from './provider.ts'
import s from './sign-in.module.css'

interface OtherWaysProps {
  /** The code of whoever has no account yet; '' = none. */
  readonly invitation?: string
  /** Passkeys sign in, and up is another matter. */
  readonly signingUp?: boolean
  readonly onDone: () => void
}

export function OtherWays({ invitation = '', signingUp = false, onDone }: OtherWaysProps) {
  const [provider, setProvider] = useState<string | null>(null)
  const [busy, setBusy] = useState(isBack)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    // Without an answer there is no button, and the password's form says that nobody answers.
    call('GET /api/auth/visitor').then(
      (visitor) => setProvider(visitor.provider),
      () => undefined,
    )
    if (isBack()) run(comeBack)
  }, [])
  const run = (work: () => Promise<unknown>, done = () => {}) => {
    setBusy(true)
    setError(null)
    work().then(done, (failure: unknown) => {
      setError(failure)
      setBusy(false)
    })
  }
  const passkeys = !signingUp && hasPasskeys()
  if (provider === null && !passkeys && error === null) return null
  return (
    <div class={s.ways} aria-busy={busy}>
      <FormProblem error={error} />
      {provider !== null && (
        <Button class={s.submit} disabled={busy} onClick={() => run(() => leaveToSignIn(invitation))}>
          Continue with {provider}
        </Button>
      )}
      {passkeys && (
        <Button class={s.submit} disabled={busy} onClick={() => run(signInWithPasskey, onDone)}>
          Use a passkey
        </Button>
      )}
    </div>
  )
}
