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

// Who has run a script here before is most likely signed in: the chart is fetched while the server is asked. What fails
// here is fetched, and told of, again where it is needed.
if (/^\/(?:$|chart)/.test(path.value) && lastRun.value !== '')
  Promise.all([import('./frame/workspace.tsx'), import('./chart/chart.tsx')]).catch(() => undefined)

const root = document.getElementById('app')
if (root) render(<App />, root)
