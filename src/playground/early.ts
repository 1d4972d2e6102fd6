// Runs before the page's own code is read: the theme, so that nobody sees a page of the other one flash by, and the worker, which
// takes as long to begin as the page.

import '../dashboard/early-theme.ts'
import { EngineClient } from './engine-client.ts'

/** As `state.ts` takes it over. */
export interface Early {
  chartroomEngine?: EngineClient
}

;(globalThis as Early).chartroomEngine = new EngineClient(
  document.getElementById('engine')?.textContent ?? '',
)
