// The keys of everything, to look up and to change: in a dialog over any page, and among the settings.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { chooseKeys, chosenKeys, commands, keysOf } from '../commands.ts'
import { keysOpen } from '../frame/overlays.ts'
import { fuzzy } from '../frame/palette-model.ts'
import { areSameKeys, keyText, pressed, type Act } from '../keys.ts'
import { OWN_ACTS, SECTIONS } from '../own-acts.ts'
import { Dialog } from '../ui/dialog.tsx'
import { toast, toastError } from '../ui/ui.tsx'
import { canClash, refusalOf } from './key-choice.ts'
import s from './keys.module.css'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'
import { Section } from '../frame/section.tsx'

/** What these keys do cannot be changed: they mean the same in nearly every program. */
const FIXED: readonly (readonly [what: string, ...keys: string[]])[] = [
  ['Scroll the chart', 'ArrowLeft', 'ArrowRight'],
  ['Show fewer or more bars', 'ArrowUp', 'ArrowDown'],
  ['Go to all bars, to the newest', 'Home', 'End'],
  ['Another symbol: its letters', 'A', '…', 'Z'],
  ['Another interval: its digits', '1', '…', '9'],
  ['Move what is drawn', 'ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'],
  ['Place or finish a drawing', 'Enter'],
  ['Remove what is selected', 'Delete'],
  ['Let go, close', 'Esc'],
]

export const Keys = () => (
  <Dialog title="Keys" onClose={() => (keysOpen.value = false)} width={760}>
    <KeyList />
  </Dialog>
)

export const KeySettings = () => (
  <Section title="Keys">
    <KeyList />
  </Section>
)

function KeyList() {
  const [text, setText] = useState('')
  const [all, setAll] = useState(false)
  const [changing, setChanging] = useState('')
  const acts = useActs()
  const changed = acts.filter(({ id }) => id in chosenKeys.value)
  const found = useMemo(() => {
    const query = text.trim()
    const some = query === '' && !all ? acts.filter((act) => keysOf(act) !== '' || act.id === changing) : acts
    return query === '' ? some : some.filter((act) => isFound(act, query))
  }, [acts, text, all, changing, chosenKeys.value])
  const sections = SECTIONS.map(
    (section) => [section, found.filter((act) => act.section === section)] as const,
  ).filter(([, rows]) => rows.length > 0)
  return (
    <>
      <p class={s.about}>
        Click on keys to change them. They are kept in this browser, for your account
        {changed.length > 0 && `; ${changed.length} changed`}.
      </p>
      <div class={s.head}>
        <input
          class={s.search}
          value={text}
          type="search"
          placeholder="Search: undo, trend line, Ctrl K…"
          aria-label="Search keys"
          maxLength={100}
          autocomplete="off"
          spellcheck={false}
          data-autofocus
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {buttons([item('Also what has no keys', '', () => setAll(!all), { on: all })], 'small quiet')}
        {buttons([item('Reset all', '', resetAll, { disabled: changed.length === 0 })], 'small')}
      </div>
      {found.length === 0 && <p class={s.none}>Nothing is called “{text.trim()}”.</p>}
      <div class={s.keys}>
        {sections.map(([section, rows]) => (
          <section key={section}>
            <h3>{section}</h3>
            <ul>
              {rows.map((act) => (
                <KeyRow
                  key={act.id}
                  act={act}
                  acts={acts}
                  open={changing === act.id}
                  onOpen={() => setChanging(act.id)}
                  onClose={() => setChanging((now) => (now === act.id ? '' : now))}
                />
              ))}
            </ul>
          </section>
        ))}
        {text.trim() === '' && <Fixed />}
      </div>
    </>
  )
}

/** By words of its name or section, or by its keys as they are shown or written. */
function isFound(act: Act, query: string): boolean {
  const keys = keysOf(act)
  const typed = query.toLowerCase().replaceAll(/[\s+]+/g, '')
  const isKeys = [keyText(keys), keys].some((one) => one.toLowerCase().replaceAll(/[\s+]+/g, '') === typed)
  return isKeys || fuzzy(query, `${act.section} ${act.title}`) !== null
}

function resetAll(): void {
  const before = chosenKeys.peek()
  chooseKeys({})
  const action = { text: 'Undo', run: () => chooseKeys(before) }
  toast('All keys are as they were at first.', { action })
}

/** Everything that has keys or could have some, also on pages that are not open. */
function useActs(): readonly Act[] {
  const [elsewhere, setElsewhere] = useState<readonly Act[]>([])
  useEffect(() => void actsElsewhere().then(setElsewhere, toastError), [])
  return useMemo(() => {
    const here = new Set(commands.value.map(({ id }) => id))
    return [...commands.value, ...elsewhere.filter(({ id }) => !here.has(id)), ...OWN_ACTS]
  }, [commands.value, elsewhere])
}

async function actsElsewhere(): Promise<readonly Act[]> {
  const [chart, page, drawings, script] = await Promise.all([
    import('../chart/chart-commands.ts'),
    import('../frame/chart-page.tsx'),
    import('../drawings/attach.ts'),
    import('../editor/script-drawer.tsx'),
    // Its commands are added when it is loaded, and wait for a replay.
    import('../replay/replay-drawer.tsx'),
  ])
  return [
    ...chart.COMMANDS,
    ...page.COMMANDS,
    ...drawings.drawingCommands(),
    ...script.scriptCommands({ current: null }),
  ]
}

type Pressed = { refused?: string; taken?: { keys: string; from: readonly Act[] } }

interface RowProps {
  readonly act: Act
  readonly acts: readonly Act[]
  readonly open: boolean
  readonly onOpen: () => void
  readonly onClose: () => void
}

function KeyRow({ act, acts, open, onOpen, onClose }: RowProps) {
  const button = useRef<HTMLButtonElement>(null)
  const row = useRef<HTMLLIElement>(null)
  /** Why the keys just pressed are not taken, and whose they are. */
  const [{ refused, taken }, answer] = useState<Pressed>({})
  const shown = keyText(keysOf(act))
  const first = act.keys ?? ''
  const leave = () => {
    answer({})
    onClose()
  }
  const close = () => {
    leave()
    button.current?.focus()
  }
  const choose = (next: string, from: readonly Act[] = []) => {
    chooseKeys({
      ...without(chosenKeys.peek(), act.id),
      ...(next !== first && { [act.id]: next }),
      ...Object.fromEntries(from.map(({ id }) => [id, ''])),
    })
    close()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open || event.key === 'Tab') return
    event.preventDefault()
    event.stopPropagation()
    if (event.key === 'Escape') return close()
    const next = pressed(event)
    if (next === '' || event.repeat) return
    const refusal = refusalOf(act, next)
    const from = clashing(act, acts, next)
    if (refusal !== null) answer({ refused: refusal })
    else if (from.length > 0) answer({ taken: { keys: next, from } })
    else choose(next)
  }
  return (
    <li
      ref={row}
      data-open={open}
      onFocusOut={(event) => {
        const to = event.relatedTarget as Node | null
        if (open && to !== null && !row.current?.contains(to)) leave()
      }}
    >
      <span class={s.row}>
        <span>{act.title}</span>
        <button
          ref={button}
          type="button"
          class={s.keysOf}
          data-none={shown === ''}
          data-changed={act.id in chosenKeys.value}
          aria-label={
            open
              ? `Press the new keys for: ${act.title}. Escape leaves them as they are.`
              : `${act.title}: ${shown === '' ? 'no keys' : shown}. Change`
          }
          onClick={onOpen}
          onKeyDown={onKeyDown}
        >
          {open ? 'Press keys…' : shown === '' ? 'none' : shown}
        </button>
      </span>
      {open && (
        <span class={s.changing}>
          <span role="status">
            {refused}
            {taken && `${keyText(taken.keys)} is “${taken.from.map(({ title }) => title).join('”, “')}”. `}
          </span>
          {buttons(
            [
              taken && item('Use it here', '', () => choose(taken.keys, taken.from), { primary: true }),
              shown !== '' && item('No keys', '', () => choose('')),
              act.id in chosenKeys.value &&
                item(`Reset to ${keyText(first) || 'none'}`, '', () =>
                  choose(first, clashing(act, acts, first)),
                ),
            ],
            'small',
          )}
          {buttons([item('Cancel', '', close)], 'small quiet')}
        </span>
      )}
    </li>
  )
}

/** The acts that have the keys which another is to get. */
const clashing = (act: Act, acts: readonly Act[], keys: string): readonly Act[] =>
  acts.filter((other) => other.id !== act.id && canClash(act, other) && areSameKeys(keysOf(other), keys))

function without(keys: Readonly<Record<string, string>>, id: string): Readonly<Record<string, string>> {
  const { [id]: _gone, ...rest } = keys
  return rest
}

const Fixed = () => (
  <section>
    <h3>Always the same</h3>
    <ul>
      {FIXED.map(([what, ...keys]) => (
        <li key={what}>
          <span class={s.row}>
            <span>{what}</span>
            <span class={s.fixed}>
              {keys.map((key) => (key === '…' ? ' … ' : <kbd key={key}>{keyText(key)}</kbd>))}
            </span>
          </span>
        </li>
      ))}
    </ul>
  </section>
)
