// The field that adds a symbol to a watchlist, as `AAPL` or `NASDAQ:AAPL`. It suggests the cached symbols.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useLoad } from '../frame/page.tsx'
import { Button, toastError, uiStyles as ui } from '../ui/ui.tsx'
import { addSymbol, type Watchlist } from './lists.ts'
import { namedBy, namesOfAll } from './quotes.ts'
import s from './watchlists.module.css'

interface AddProps {
  readonly list: Watchlist
  /** Nothing else can be done with the list yet. */
  readonly isNext?: boolean
}

export function AddSymbol({ list, isNext = false }: AddProps) {
  const field = useRef<HTMLInputElement>(null)
  // Behind the dialog that made the list and gives the focus back where it was.
  useEffect(() => {
    if (isNext) field.current?.focus()
  }, [isNext])
  const [text, setText] = useState('')
  const id = useId()
  const known = useLoad(namesOfAll, []).data ?? []
  const add = async () => {
    if (text.trim() === '') return
    setText('')
    // Enter may come before the symbols do.
    await addSymbol(list.id, namedBy(text, await namesOfAll()))
  }
  return (
    <form
      class={s.add}
      onSubmit={(event) => {
        event.preventDefault()
        add().catch((error: unknown) => {
          setText((now) => now || text)
          toastError(error)
        })
      }}
    >
      <input
        ref={field}
        class={ui['input']}
        aria-label="Add a symbol"
        placeholder="Add a symbol"
        list={id}
        value={text}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <datalist id={id}>
        {known.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <Button type="submit" icon="plus" label="Add" />
    </form>
  )
}
