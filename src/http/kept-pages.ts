// Remembers which addresses were answered with a kept text, so that the gate can answer them again without a router, a
// parsed query and a handler around it: half of what such a request takes.
//
// A page is remembered for one reader, since another may see something else at the same address. What is remembered is
// where the answer is kept, and how to ask for its present stamp, never the answer itself.

import type { AccessOptions } from './visit.ts'
import type { StampOf } from './kept-answers.ts'

/** An address that was answered with a kept text. */
interface Page {
  /** The route's pattern, for the metrics. */
  readonly route: string
  readonly path: string
  readonly options: AccessOptions
  readonly readers: Map<string, KeptPage>
}

export interface KeptPage {
  readonly name: string
  readonly stampOf: StampOf
}

/** The most pages, of all addresses and readers together: a few megabytes. When there are more, all are forgotten. */
const PAGES_MAX = 5000

export class KeptPages {
  readonly #pages = new Map<string, Page>()
  #count = 0

  at(url: string): Page | undefined {
    return this.#pages.get(url)
  }

  /** `reader` is the user who sees private objects there, or '' for nobody. */
  note(url: string, page: Omit<Page, 'readers'>, reader: string, { name, stampOf }: KeptPage): void {
    if (this.#count >= PAGES_MAX) {
      this.#pages.clear()
      this.#count = 0
    }
    const known = this.#pages.get(url) ?? { ...page, readers: new Map() }
    if (!known.readers.has(reader)) this.#count++
    known.readers.set(reader, { name, stampOf })
    this.#pages.set(url, known)
  }
}
