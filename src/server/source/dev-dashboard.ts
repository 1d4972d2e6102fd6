// The dashboard during development (`bun run dev`): it is rebuilt when a file of src changes, and the open pages reload it.
//
// A page asks once a second for the number of the build it should show. A stream would tell it sooner, but would delay the
// end of the server at each restart. The page's policy is as strict as in production, so the asking script is a file.

import { watch } from 'node:fs'
import type { ServeDashboard } from '../../http/deps.ts'
import { serveFiles } from '../assets.ts'
import { bundleDashboard, PAGES, type Files } from './dashboard-bundle.ts'

/** Editors write a file in several steps. */
const SETTLE_MS = 50
const SCRIPT = 'dev-reload.js'
const NUMBER = 'dev-build.txt'

const scriptAt = (base: string) => `let shown
setInterval(async () => {
  if (document.hidden) return
  const answer = await fetch('${base}/assets/${NUMBER}', { cache: 'no-store' }).catch(() => null)
  if (!answer?.ok) return
  const build = await answer.text()
  if (shown !== undefined && shown !== build) location.reload()
  shown = build
}, 1000)
`

export interface Workshop {
  readonly build: () => Promise<Files>
  /** Calls back when a file has changed. */
  readonly watch: (changed: () => void) => void
  readonly warn: (line: string) => void
}

export async function reloadingDashboard(base: string, shop: Workshop = ofSource()): Promise<ServeDashboard> {
  // The time, so that a restarted process begins with another number.
  let number = Date.now()
  const make = async () => serveFiles(base, withReload(base, await shop.build(), String(number++)))
  let serve = await make()
  let again = Promise.resolve()
  const rebuild = async () => {
    try {
      serve = await make()
    } catch (error) {
      shop.warn(`The dashboard shows what it was: ${String(error)}`)
    }
  }
  shop.watch(() => {
    again = again.then(rebuild)
  })
  return (...asked) => serve(...asked)
}

function withReload(base: string, files: Files, number: string): Files {
  const encoder = new TextEncoder()
  const script = `<script type="module" src="./${SCRIPT}?${number}"></script></head>`
  const pages = PAGES.filter((name) => files.has(name)).map((name) => {
    const page = new TextDecoder().decode(files.get(name))
    return [name, encoder.encode(page.replace('</head>', script))] as const
  })
  return new Map([
    ...files,
    ...pages,
    [SCRIPT, encoder.encode(scriptAt(base))],
    [NUMBER, encoder.encode(number)],
  ])
}

function ofSource(): Workshop {
  return {
    build: bundleDashboard,
    watch(changed) {
      let timer: Timer | undefined
      watch(`${import.meta.dir}/../..`, { recursive: true }, () => {
        clearTimeout(timer)
        timer = setTimeout(changed, SETTLE_MS)
      })
    },
    warn: (line) => console.error(line),
  }
}
