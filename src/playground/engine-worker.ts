// The engine in the page's worker. Its text lies in the page once: the worker runs it to run scripts, and the page to complete
// and explain what is being written, since an editor cannot wait for a worker.

import { barsFromCsv, check, Problem, run } from '../engine/engine.ts'
import * as editor from '../language/editor.ts'
import { referencesAt } from '../language/references.ts'
import { joinedBytes } from '../lib/bytes.ts'
import { marketTold } from '../market/files/file-market.ts'
import { columnPieces, pack } from '../wire/columns.ts'
import type { Diagnostic } from '../wire/script.ts'
import type { Asked, Question, Questions, Refused, Told } from './messages.ts'

const ANSWERS: {
  readonly [Q in Question]: (
    ask: Questions[Q]['ask'],
    progress: (part: number) => void,
  ) => Questions[Q]['answer'] | Promise<Questions[Q]['answer']>
} = {
  check: ({ source }) => {
    const found = check(source)
    return { ...found, diagnostics: found.diagnostics.map(ofHere) }
  },
  bars: ({ file, fileName }) => barsFromCsv(file, { symbol: symbolIn(fileName), fileName }),
  run: ({ source, market, options }, progress) => {
    const made = run(source, market, {
      ...options,
      progress: (bar) => progress(bar / market.bars.length),
    })
    const tracks = pack(made.tracks, [])
    return { report: made.reportJson(), tracks: joinedBytes(columnPieces(tracks.text, [tracks])).buffer }
  },
}

/** A library is added to a server, in ways that the page has not. */
const ofHere = (one: Diagnostic): Diagnostic =>
  one.code === 'library-not-found'
    ? { ...one, hint: 'This page has those of TradingView alone. Put what you use of it into the script.' }
    : one

/** `BINANCE:BTCUSDT` of a name that a program has built, or else its first word. */
function symbolIn(fileName: string): string {
  const told = marketTold(fileName)
  if (told) return told.exchange === '' ? told.symbol : `${told.exchange}:${told.symbol}`
  return (/^[\w.]+/.exec(fileName.replace(/\.\w+$/, ''))?.[0] ?? 'FILE').toUpperCase()
}

const scope = globalThis as unknown as {
  postMessage(told: Told): void
  onmessage: (event: { readonly data: Asked }) => void
  chartroomLanguage?: typeof editor & { readonly referencesAt: typeof referencesAt }
}

async function answer({ id, what, ask }: Asked): Promise<void> {
  let told = 0
  const progress = (part: number) => {
    // A message a hundredth, since each wakes the page.
    if (part - told < 0.01) return
    told = part
    scope.postMessage({ id, progress: part })
  }
  try {
    const answered = ANSWERS[what] as (asked: unknown, tell: typeof progress) => unknown
    scope.postMessage({ id, answer: await answered(ask, progress) })
  } catch (error) {
    scope.postMessage({ id, refused: refusalOf(error) })
  }
}

function refusalOf(error: unknown): Refused {
  if (error instanceof Problem)
    return {
      code: error.code,
      message: error.message,
      diagnostics: ((error.details.diagnostics ?? []) as readonly Diagnostic[]).map(ofHere),
    }
  return { code: 'internal_error', message: `The engine failed: ${String(error)}`, diagnostics: [] }
}

if (typeof document === 'undefined') scope.onmessage = ({ data }) => void answer(data)
else scope.chartroomLanguage = { ...editor, referencesAt }
