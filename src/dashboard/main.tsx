// The dashboard's first page: theme, session, router and the frame. Chart, editor and pages come when they are opened.

import { render } from 'preact'
import { App } from './frame/app.tsx'
import { listenForErrors } from './report-errors.ts'
import { listenForLinks } from './router.ts'
import { loadSession } from './session.ts'

listenForErrors()
listenForLinks()
void loadSession()

const root = document.getElementById('app')
if (root) render(<App />, root)
