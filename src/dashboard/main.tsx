// The dashboard's first page: theme, session, router and the frame. Chart, editor and pages come when they are opened.

import { render } from 'preact'
import { App } from './frame/app.tsx'
import { askEarly } from './chart/first-bars.ts'
import { listenForErrors } from './report-errors.ts'
import { listenForLinks, path } from './router.ts'
import { loadSession, user } from './session.ts'
import { lastRun } from './settings.ts'
import { market } from './workspace.ts'

listenForErrors()
listenForLinks()
const session = loadSession()
session.catch(() => undefined)

/**
 * Starts loading the chart while the page is built. Failures are ignored here, since the same files are requested, and
 * failures reported, when they are needed.
 */
function fetchChart(): void {
  Promise.all([
    import('./frame/chart-page.tsx'),
    import('./chart/chart.tsx'),
    import('./chart/chart-commands.ts'),
  ]).catch(() => undefined)
  // For an address that names a market, the chart itself knows best.
  if (path.value === '/') askEarly(market.value)
}

// A user who has run a script here before is most likely signed in, so loading does not wait until the server has confirmed
// it.
if (/^\/(?:$|chart)/.test(path.value)) {
  if (lastRun.value !== '') fetchChart()
  else session.then(() => user.value && fetchChart()).catch(() => undefined)
}

const root = document.getElementById('app')
if (root) render(<App />, root)
