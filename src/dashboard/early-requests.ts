// Asks who is signed in, and for the bars of the chart, before the page's own code is there.
//
// The bars are asked for only if a script has been run in this browser, since its user is most likely still signed in then.
// The same rule is in `main.tsx`.

import { stored } from './early-theme.ts'
import type { Market } from './charts.ts'
import { askFirst, firstBars } from './first-requests.ts'

const { src } = document.currentScript as HTMLScriptElement
const root = src.replace(/\/assets\/[^/]*$/, '')

/** What the active chart showed last. */
function lastMarket(): Market {
  const charts = stored('charts') as {
    readonly active: string
    readonly all: readonly { readonly id: string; readonly market: Market }[]
  } | null
  const active = charts?.all.find(({ id }) => id === charts.active)?.market
  return active ?? (stored('market') as Market | null) ?? { exchange: 'SP', symbol: 'SPX', interval: '1d' }
}

askFirst(`${root}/api/auth/visitor`)
if (location.href.replace(/[?#].*$/, '') === `${root}/` && stored('run.last'))
  askFirst(
    `${root}/api/platform/bars?${new URLSearchParams(
      Object.entries(firstBars(lastMarket())).map(([name, value]) => [name, String(value)]),
    )}`,
  )
