// Symbols that providers have and of which no bars are stored, as they are found while one types.

import { useEffect, useState } from 'preact/hooks'
import type { FoundSymbol, SymbolList } from '../../wire/symbol-search.ts'
import { call } from '../api-client.ts'

/** How long after the last letter it is searched. */
const TYPED_MS = 120
/** How often it is asked how far a list has come. */
const AGAIN_MS = 700

interface Listed {
  readonly found: readonly FoundSymbol[]
  readonly lists: readonly SymbolList[]
  /** The text that was searched for; null = none yet. */
  readonly text: string | null
}

/** Searches for the text soon after it has changed, and again while lists are fetched. */
export function useListed(text: string) {
  const [result, setResult] = useState<Listed>({ found: [], lists: [], text: null })
  const [round, setRound] = useState(0)
  const search = () => setRound((before) => before + 1)
  useEffect(() => {
    const abort = new AbortController()
    let again: ReturnType<typeof setTimeout> | undefined
    const ask = () =>
      call('GET /api/platform/symbols/search', {
        query: { q: text, limit: '50' },
        signal: abort.signal,
      }).then(
        ({ symbols, lists }) => {
          setResult({ found: symbols.filter(({ stored }) => !stored), lists, text })
          if (lists.some(({ state }) => state === 'fetching' || state === 'waiting'))
            again = setTimeout(search, AGAIN_MS)
        },
        // What is stored is found without it.
        () => setResult((before) => ({ ...before, found: [], text })),
      )
    const soon = setTimeout(() => void ask(), TYPED_MS)
    return () => {
      clearTimeout(soon)
      clearTimeout(again)
      abort.abort()
    }
  }, [text, round])
  return { ...result, search }
}
