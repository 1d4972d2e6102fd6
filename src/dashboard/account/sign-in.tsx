// Signing in and up. The first account owns the server; after it, an invitation opens the door.

import { useEffect } from 'preact/hooks'
import { ApiError } from '../api-client.ts'
import { navigate, path, query } from '../router.ts'
import { lazy } from '../frame/lazy.tsx'
import { signUpNeedsCode, signUpState } from '../session.ts'
import { PASSWORD_HINT } from '../ui/field-words.ts'
import { Form, useForm } from '../ui/form.tsx'
import { Logo } from '../ui/logo.tsx'
import { Field } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { signIn, signUp } from './entering.ts'
import s from './sign-in.module.css'

const OtherWays = lazy(async () => (await import('./other-ways.tsx')).OtherWays, { isAddition: true })
const FIELDS = bodyFields('POST /api/auth/sign-up')

export function SignIn() {
  // The setup link and invitations lead to /sign-up?invitation=…; older links say `code`.
  const code = query.value.get('invitation') ?? query.value.get('code') ?? ''
  const firstEver = signUpState.value === 'owner'
  const signingUp = path.value === '/sign-up' || (firstEver && path.value !== '/sign-in')
  const form = useForm({
    wire: FIELDS,
    start: { name: '', email: '', password: '', invitation: code },
    async send(typed) {
      if (signingUp) await signUp({ ...typed, invitation: typed.invitation.trim() })
      else await signIn(typed.email, typed.password)
      goOn()
    },
  })
  const { busy, error } = form
  useEffect(() => form.set('invitation', code), [code])
  useEffect(() => {
    document.title = signingUp ? 'Sign up · Chartroom' : 'Sign in · Chartroom'
  }, [signingUp])
  const needsCode =
    code !== '' ||
    signUpNeedsCode.value ||
    (error instanceof ApiError && ['setup_required', 'signup_closed'].includes(error.code))

  return (
    <div class={s.screen}>
      <main class={s.side} id="main">
        <Form
          of={form}
          action={busy ? 'One moment…' : signingUp ? 'Create account' : 'Sign in'}
          variant="primary"
          class={s.form}
          actionClass={s.submit}
          labelledBy="sign-in-title"
          beside={
            !firstEver && (
              <p class={s.switch}>
                {signingUp ? 'Already have an account?' : 'New here?'}{' '}
                <button type="button" onClick={() => navigate(signingUp ? '/sign-in' : '/sign-up')}>
                  {signingUp ? 'Sign in' : 'Create an account'}
                </button>
              </p>
            )
          }
        >
          <div class={s.brand}>
            <Logo size={26} />
            Chartroom
          </div>
          <div>
            <h1 id="sign-in-title">
              {signingUp ? (firstEver ? 'Welcome to your Chartroom' : 'Create your account') : 'Sign in'}
            </h1>
            {signingUp && (
              <p class={s.lead}>
                {firstEver
                  ? code === '' && needsCode
                    ? 'This server is new: the first account owns it. Open the setup link that it printed on its console, or paste the code from it below.'
                    : 'This server is new, and your account will own it.'
                  : signUpState.value === 'open'
                    ? 'Anybody may sign up here.'
                    : 'You need an invitation from the owner of this server.'}
              </p>
            )}
          </div>
          {signingUp && (
            <Field
              label="Name"
              autocomplete="name"
              autofocus
              hint="Shown beside what you publish."
              {...form.field('name')}
            />
          )}
          <Field
            key={signingUp ? 'up' : 'in'}
            label="E-mail"
            autocomplete="username"
            autofocus={!signingUp}
            {...form.field('email', { type: 'email' })}
          />
          <Field
            label="Password"
            autocomplete={signingUp ? 'new-password' : 'current-password'}
            {...(signingUp && { hint: PASSWORD_HINT })}
            {...form.field('password', { type: 'password' })}
          />
          {signingUp && needsCode && (
            <Field label="Setup or invitation code" autocomplete="off" {...form.field('invitation')} />
          )}
        </Form>
        <OtherWays
          key={signingUp ? 'up' : 'in'}
          invitation={signingUp ? form.values.invitation.trim() : ''}
          signingUp={signingUp}
          onDone={goOn}
        />
      </main>
      <aside class={s.picture} aria-label="About Chartroom">
        <Picture />
        <div class={s.promise}>
          <h2>Test it before you trade it.</h2>
          <p>
            Pine Script strategies, run on your own bars, in your own house: trades that match TradingView’s,
            replays, alerts and signed webhooks.
          </p>
        </div>
      </aside>
    </div>
  )
}

function goOn(): void {
  if (path.value === '/sign-up' || path.value === '/sign-in') navigate('/', { replace: true })
}

/** Sixty-four bars of a random walk with a fixed seed. */
function Picture() {
  let state = 23
  const random = () => {
    state = (state * 1103515245 + 12345) % 2147483648
    return state / 2147483648 - 0.46
  }
  let close = 420
  const bars = Array.from({ length: 64 }, () => {
    const open = close
    close = Math.min(600, Math.max(90, open - random() * 34))
    const wick = 4 + Math.abs(random()) * 22
    return { open, close, high: Math.min(open, close) - wick, low: Math.max(open, close) + wick * 0.8 }
  })
  return (
    <svg viewBox="0 0 900 760" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
      {[120, 240, 360, 480, 600].map((y) => (
        <line key={y} x1="0" x2="900" y1={y} y2={y} stroke="var(--line)" stroke-width="1" />
      ))}
      {bars.map((bar, i) => {
        const x = 12 + i * 14
        const colour = bar.close <= bar.open ? 'var(--up)' : 'var(--down)'
        return (
          <g key={i} fill={colour} stroke={colour} opacity={0.35 + (0.6 * i) / bars.length}>
            <line x1={x} x2={x} y1={bar.high} y2={bar.low} stroke-width="1.2" />
            <rect
              x={x - 4}
              width="8"
              y={Math.min(bar.open, bar.close)}
              height={Math.max(1.5, Math.abs(bar.open - bar.close))}
              rx="1"
              stroke="none"
            />
          </g>
        )
      })}
    </svg>
  )
}
