// Which lists of symbols are searched, and the way to another: a button for each provider that nobody has chosen yet.

import type { SymbolList } from '../../wire/symbol-search.ts'
import { call } from '../api-client.ts'
import { count } from '../format.ts'
import { Button, toastError } from '../ui/ui.tsx'
import s from './chart.module.css'

export function SymbolLists({
  lists,
  onChosen,
}: {
  readonly lists: readonly SymbolList[]
  readonly onChosen: () => void
}) {
  const choose = (provider: string) =>
    call('POST /api/platform/symbols/lists', { body: { provider } }).then(onChosen, toastError)
  const unchosen = lists.filter(({ state }) => state === 'unchosen')
  const said = lists.map(saidOf).filter((text) => text !== '')
  if (lists.length === 0) return null
  return (
    <details class={s.lists} open={said.length === 0}>
      <summary>
        {said.length === 0 ? 'Search the lists of providers' : `Lists of symbols: ${said.join(' · ')}`}
      </summary>
      {unchosen.length > 0 && (
        <>
          <p class="muted">A provider is asked from here on once you choose it, and not before.</p>
          <span class={s.offers}>
            {unchosen.map(({ provider }) => (
              <Button key={provider} onClick={() => void choose(provider)}>
                {provider}
              </Button>
            ))}
          </span>
        </>
      )}
    </details>
  )
}

function saidOf({ provider, state, count: known, lastError }: SymbolList): string {
  if (state === 'ready') return `${provider} ${count(known)}`
  if (state === 'failed') return `${provider}: ${lastError ?? 'not there'}`
  if (state === 'fetching')
    return known === 0 ? `${provider} is fetched …` : `${provider} ${count(known)} so far …`
  return state === 'waiting' ? `${provider} …` : ''
}
