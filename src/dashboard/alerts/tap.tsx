// The page that a link in a message opens: what it would do, and one button that does it. Nobody has to be signed in.

import { useState } from 'preact/hooks'
import type { AlertLink } from '../../wire/link.ts'
import { call } from '../api-client.ts'
import { ago, marketText } from '../format.ts'
import { attempt, Page, Show, useAnswer } from '../frame/page.tsx'
import { href } from '../router.ts'
import { visiting } from '../session.ts'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'

export function Tap() {
  const [token] = useState(() => location.hash.slice(1))
  const [done, setDone] = useState<AlertLink | null>(null)
  const [busy, setBusy] = useState(false)
  const link = useAnswer('POST /api/links/show', { body: { token } }, 'link')
  const follow = async () => {
    setBusy(true)
    try {
      setDone((await call('POST /api/links/follow', { body: { token } })).link)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Page title="An alert fired" narrow>
      <Show of={link}>
        {(shown) => {
          const now = done ?? shown
          const { action, name, message, firedAt, isDone } = now
          return (
            <>
              <h2>{name}</h2>
              <p style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{message}</p>
              <p class="muted">
                {marketText(now)} · {ago(firedAt)}
              </p>
              <p role="status">{isDone && DONE[action]}</p>
              {buttons([
                !isDone && item(TODO[action], '', () => attempt(follow()), { primary: true, disabled: busy }),
              ])}
              {!visiting() && (
                <p>
                  <a href={href('/alerts')}>All alerts</a>
                </p>
              )}
            </>
          )
        }}
      </Show>
    </Page>
  )
}

const TODO = { pause: 'Pause this alert', acknowledge: 'I have seen it' } as const
const DONE = {
  pause: 'The alert is not watching. Resume it on the page Alerts.',
  acknowledge: 'Noted: nobody else will be told of it.',
} as const
