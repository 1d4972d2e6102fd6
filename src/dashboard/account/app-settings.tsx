// Installing the page as an app, and what of it works without the server.

import { useLoad, Show } from '../frame/page.tsx'
import { canWorkOffline } from '../offline/offline.ts'
import { href } from '../router.ts'
import { offline } from '../session.ts'
import { count } from '../format.ts'
import { Badge, Button } from '../ui/ui.tsx'

export function AppSettings() {
  return (
    <>
      <section>
        <h2>Install</h2>
        <Install />
      </section>
      <section>
        <h2>Offline</h2>
        {canWorkOffline() ? <Kept /> : <p>Not here, for the same reason.</p>}
        <p>
          <a href={href('/help/install')}>More about installing and working offline</a>
        </p>
      </section>
    </>
  )
}

function Install() {
  const { offer, installed } = offline
  if (installed.value)
    return (
      <p>
        <Badge tone="up">Installed</Badge> This is the app’s own window.
      </p>
    )
  if (!canWorkOffline()) return <p>{whyNot()}</p>
  if (offer.value)
    return (
      <>
        <p>An own window and icon, on this computer or phone.</p>
        <Button variant="primary" icon="download" onClick={() => void offline.install()}>
          Install Chartroom
        </Button>
      </>
    )
  return (
    <p>
      Use your browser’s menu: “Install Chartroom”, on an iPhone “Share”, “Add to Home Screen”. A browser that
      has no such entry cannot install pages.
    </p>
  )
}

function whyNot(): string {
  if (!isSecureContext)
    return `Not at this address: browsers install pages, and open them offline, only over https or from the machine itself (localhost). This page came from ${location.origin}.`
  return 'Not in this window: the browser allows no service workers here, as in private windows.'
}

function Kept() {
  const kept = useLoad(() => offline.count(), [])
  return (
    <Show of={kept}>
      {(answers) => (
        <>
          <p>
            The page opens without the server and shows the charts that were open last. {count(answers)}{' '}
            answers of the server are kept for that in this browser, until you sign out. What you draw offline
            is sent later.
          </p>
          <Button
            onClick={() => {
              void offline.forget().then(kept.reload)
            }}
          >
            Delete what is kept
          </Button>
        </>
      )}
    </Show>
  )
}
