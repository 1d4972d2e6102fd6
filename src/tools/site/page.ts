// The frame of every page: head, bar, foot. Addresses are relative and name files, so that pages work below any path and from
// a disk.

import { dirname, relative } from 'node:path/posix'
import { html, Markup } from './html.ts'

export interface SitePage {
  /** Its address in the site, `/help/chart`; `/` is the first page. */
  readonly address: string
  readonly title: string
  readonly description: string
  readonly body: Markup
}

/** The file that an address is, from the top of the site. */
export function fileOf(address: string): string {
  if (address === '/try') return 'try/index.html'
  if (address.endsWith('/')) return `${address.slice(1)}index.html`
  return /\.\w+$/.test(address) ? address.slice(1) : `${address.slice(1)}.html`
}

const PLACES = [
  ['/exactness', 'Exactness'],
  ['/speed', 'Speed'],
  ['/help/', 'Help'],
  ['/changes', 'Changes'],
] as const

/** The page as a file. Links in its body are addresses of the site. */
export function pageText(page: SitePage, version: string): string {
  const whole = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="dark light" />
        <meta name="description" content="${page.description}" />
        <title>${page.title}</title>
        <link rel="icon" href="/icon.svg" />
        <link rel="stylesheet" href="/site.css" />
      </head>
      <body>
        <a class="skip" href="#content">To the content</a>
        <header class="bar">
          <div class="wide">
            <a class="home" href="/"><img src="/icon.svg" width="26" height="26" alt="" />Chartroom</a>
            <nav aria-label="Site">
              <ul>
                ${PLACES.map(([to, name]) => html`<li><a href="${to}" ${current(page, to)}>${name}</a></li>`)}
              </ul>
            </nav>
            <p class="acts">
              <a class="quiet" href="/try">Playground</a
              ><a class="button small" href="/download" ${current(page, '/download')}>Download</a>
            </p>
          </div>
        </header>
        <main id="content" tabindex="-1">${page.body}</main>
        <footer>
          <div class="wide">
            <div>
              <a class="home" href="/"><img src="/icon.svg" width="22" height="22" alt="" />Chartroom</a>
              <p>Version ${version}. Apache-2.0.</p>
            </div>
            <ul>
              <li><a href="/try">Playground</a></li>
              <li><a href="/download">Download</a></li>
              <li><a href="/changes">Changes</a></li>
            </ul>
            <ul>
              <li><a href="/exactness">Exactness</a></li>
              <li><a href="/speed">Speed</a></li>
              <li><a href="/help/torture">Torture</a></li>
            </ul>
            <ul>
              <li><a href="/help/">Help</a></li>
              <li><a href="/help/privacy">What leaves your machine</a></li>
              <li><a href="/licences.txt">Licences</a></li>
            </ul>
            <p class="marks">
              Pine Script and TradingView are trademarks of TradingView, Inc. Chartroom is compatible with
              Pine Script; it is not made, endorsed or supported by TradingView. This page loads nothing from
              elsewhere and runs no script.
            </p>
          </div>
        </footer>
      </body>
    </html> `
  const here = dirname(`/${fileOf(page.address)}`)
  return whole.text.replaceAll(
    /(href|src)="\/([^"#]*)(#[^"]*)?"/g,
    (_, attribute: string, path: string, anchor = '') =>
      `${attribute}="${relative(here, `/${fileOf(`/${path}`)}`)}${anchor}"`,
  )
}

const current = (page: SitePage, to: string) =>
  page.address === to || (to.endsWith('/') && page.address.startsWith(to))
    ? new Markup(' aria-current="page"')
    : html``
