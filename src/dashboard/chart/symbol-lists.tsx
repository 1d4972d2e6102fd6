// Which lists of symbols are searched, and the way to that of another provider.

import type { SymbolList } from '../../wire/symbol-search.ts'
import { call } from '../api-client.ts'
import { count } from '../format.ts'
import { Select, toastError } from '../ui/ui.tsx'
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
    <div class={s.lists}>
      {said.length > 0 && <p class="muted">Lists of symbols: {said.join(' · ')}</p>}
      {unchosen.length > 0 && (
        <p class="muted">A provider is asked from here on once you choose it, and not before.</p>
      )}
      {unchosen.length > 0 && (
        <Select
          label="Search the list of a provider, too"
          value=""
          options={[
            ['', 'Choose a provider'],
            ...unchosen.map(({ provider }) => [provider, provider] as const),
          ]}
          onChange={(provider) => provider !== '' && void choose(provider)}
        />
      )}
    </div>
  )
}

function saidOf({ provider, state, count: known, lastError }: SymbolList): string {
  if (state === 'ready') return `${provider} ${count(known)}`
  if (state === 'failed') return `${provider}: ${lastError ?? 'not there'}`
  if (state === 'fetching')
    return known === 0 ? `${provider} is fetched …` : `${provider} ${count(known)} so far …`
  return state === 'waiting' ? `${provider} …` : ''
}
