// The router: the address is a signal, and links are plain anchors.
//
// Paths are relative to the page's base, so '/alerts' is '/charts/alerts' under a proxy that serves us there.

import { computed, signal } from '@preact/signals'
import { movedTo } from './addresses.ts'
import { base } from './base.ts'

/** The full address of a path within the app, for `href`. */
export const href = (to: string): string => base + to

function read(): { path: string; query: URLSearchParams } {
  const path = location.pathname.startsWith(base) ? location.pathname.slice(base.length) : location.pathname
  const there = movedTo(path, location.search)
  if (there !== null) {
    history.replaceState(null, '', href(there))
    return read()
  }
  return { path: path === '' ? '/' : path, query: new URLSearchParams(location.search) }
}

const here = signal(read())
export const path = computed(() => here.value.path)
export const query = computed(() => here.value.query)

export function navigate(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', href(to))
  else history.pushState(null, '', href(to))
  here.value = read()
}

/** Handles plain clicks on links within the app without reloading the page; modified clicks stay the browser's. */
export function listenForLinks(): void {
  window.addEventListener('popstate', () => (here.value = read()))
  document.addEventListener('click', (event) => {
    const isModified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
    if (event.defaultPrevented || event.button !== 0 || isModified) return
    const anchor = (event.target as Element | null)?.closest?.('a')
    if (!anchor || anchor.target || anchor.hasAttribute('download') || anchor.origin !== location.origin)
      return
    if (!anchor.pathname.startsWith(`${base}/`) || anchor.pathname.startsWith(`${base}/api/`)) return
    event.preventDefault()
    // To a part of this page: the address stays that of what is shown.
    if (anchor.getAttribute('href')!.startsWith('#'))
      document.querySelector<HTMLElement>(anchor.hash)?.focus()
    else navigate(anchor.pathname.slice(base.length) + anchor.search + anchor.hash)
  })
}
