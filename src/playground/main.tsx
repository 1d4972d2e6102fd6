// The playground: Pine Script in a page, without a server. The page is one file, with the engine, the examples and the series in it.

import { render } from 'preact'
import '../dashboard/style.css'
import { Page } from './page.tsx'
import { begin, followLink, followScript } from './state.ts'

void begin()
// A link that is opened where the page is already changes what stands behind the `#`, and nothing else.
addEventListener('hashchange', () => void followLink())
followScript()
render(<Page />, document.getElementById('app')!)
// On a host of its own. A page from a disk is there anyway, and below a server's `/try` it may keep nothing.
if (location.protocol.startsWith('http') && origin !== 'null')
  navigator.serviceWorker?.register('./service-worker.js').catch(() => undefined)
