// How this browser tells of alerts while Chartroom is open in one of its tabs.

import { mayNotify, ring } from '../alerts/announce.ts'
import { attempt, Check, pageStyles as p } from '../frame/page.tsx'
import { notifyHere, soundHere } from '../settings.ts'
import { Section } from '../frame/section.tsx'

export function OpenTabs() {
  const canAsk = isSecureContext && 'Notification' in window
  const notify = async (on: boolean) => {
    if (on && (await Notification.requestPermission()) !== 'granted')
      throw new Error(
        'The browser does not let this page show notifications. Allow them beside the address, and try again.',
      )
    notifyHere.value = on
  }
  return (
    <Section class={p['section']} title="While Chartroom is open here">
      <p>For this browser, all of its tabs together: each alert once, also while no tab is in view.</p>
      <Check checked={notifyHere.value && canAsk} disabled={!canAsk} onChange={(on) => attempt(notify(on))}>
        Show a notification{' '}
        <span class="muted">
          {!canAsk
            ? `(browsers do this only over https or on localhost; this page came from ${location.origin})`
            : notifyHere.value && !mayNotify()
              ? '(the browser no longer allows it: untick and tick it again)'
              : ''}
        </span>
      </Check>
      <Check
        checked={soundHere.value}
        onChange={(on) => {
          soundHere.value = on
          // So that its user knows the sound, and the browser allows the next.
          if (on) ring()
        }}
      >
        Play a sound <span class="muted">(after a reload, once you have clicked in the page)</span>
      </Check>
    </Section>
  )
}
