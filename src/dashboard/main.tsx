// The dashboard's first page: theme, session, router and the frame. Chart, editor and pages come when they are opened.

import { render } from 'preact'
import { App } from './frame/app.tsx'
import { listenForErrors } from './report-errors.ts'
import { listenForLinks, path } from './router.ts'
import { loadSession } from './session.ts'
import { lastRun } from './settings.ts'

listenForErrors()
listenForLinks()
void loadSession()

// Somebody who has run a script here is most likely signed in: fetch the chart while the server is asked. What fails
// here is fetched again, and reported, where it is needed.
if (/^\/(?:$|chart)/.test(path.value) && lastRun.value !== '')
  Promise.all([import('./frame/chart-page.tsx'), import('./chart/chart.tsx')]).catch(() => undefined)

const root = document.getElementById('app')
if (root) render(<App />, root)
