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

/** Fetched while the page is put up. What fails here is fetched, and told of, again where it is needed. */
function fetchChart(): void {
  Promise.all([import('./frame/chart-page.tsx'), import('./chart/chart.tsx')]).catch(() => undefined)
  // Of an address that names a market the chart knows best.
  if (path.value === '/') askEarly(market.value)
}

// Who has run a script here before is most likely signed in: for them nothing waits until the server has said so.
if (/^\/(?:$|chart)/.test(path.value)) {
  if (lastRun.value !== '') fetchChart()
  else session.then(() => user.value && fetchChart()).catch(() => undefined)
}

const root = document.getElementById('app')
if (root) render(<App />, root)
