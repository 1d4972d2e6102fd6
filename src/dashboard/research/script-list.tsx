// The scripts on the left of Research: what is in the editor, one's own, starred, those of others, examples, built-in studies.

import { useMemo, useState } from 'preact/hooks'
import { drafts, newScript, openDraft, unsaved } from '../editor/documents.ts'
import { titleOf } from '../editor/title-of.ts'
import { href, navigate } from '../router.ts'
import { BUILT_IN, EXAMPLES, favourites, useStored, type ListedStudy } from '../studies/catalogue.ts'
import { Button, cx, uiStyles as ui } from '../ui/ui.tsx'
import { script } from '../workspace.ts'
import s from './research.module.css'
import { EDITOR, subjectId } from './subject.ts'
import { Section } from '../frame/section.tsx'

type Row = Pick<ListedStudy, 'id' | 'name'> & { readonly note: string }

const rowOf = ({ id, name, kind, group, words }: ListedStudy): Row => ({
  id: subjectId(id),
  name,
  note: kind === 'draft' ? 'draft' : group === 'Public' ? words : kind === 'indicator' ? '' : kind,
})

/** On a phone and on half a screen the list stands above the page, folded. */
const isWide = (): boolean => innerWidth > 1000

/** Longer groups are closed until somebody looks for something. */
const OPEN_MAX = 12

export function ScriptList({ chosen }: { readonly chosen: string | undefined }) {
  const [words, setWords] = useState('')
  const [open, setOpen] = useState(isWide)
  const stored = useStored([chosen])
  const groups = useMemo(() => groupsOf(stored), [stored, favourites.value, script.value, unsaved.value])
  const isFound = ({ name }: Row) => name.toLowerCase().includes(words.trim().toLowerCase())
  return (
    <nav class={s.scripts} aria-label="Scripts">
      <div class={s.scriptsHead}>
        <input
          class={ui['input']}
          type="search"
          aria-label="Find a script"
          placeholder="Find a script"
          value={words}
          onInput={(event) => {
            setWords(event.currentTarget.value)
            setOpen(true)
          }}
        />
        <Button
          class={s.unfold}
          icon="chevron"
          label="Scripts"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        />
        <Button
          icon="plus"
          label="New script"
          onClick={() => {
            newScript()
            navigate('/')
          }}
        />
      </div>
      {open && (
        <div class={s.scroll} onClick={() => setOpen(isWide)}>
          <a
            class={s.script}
            href={href('/research')}
            aria-current={chosen === undefined ? 'page' : undefined}
          >
            <span>All runs</span>
          </a>
          {groups.map(([name, rows]) => groupOf(name, rows.filter(isFound), chosen, words.trim() !== ''))}
          <Drafts />
        </div>
      )}
    </nav>
  )
}

function groupsOf(
  stored: readonly ListedStudy[],
): readonly (readonly [name: string, rows: readonly Row[]])[] {
  const every = [...stored, ...EXAMPLES, ...BUILT_IN]
  const of = (name: string) => every.filter(({ group }) => group === name).map(rowOf)
  return [
    ['In the editor', editorRow()],
    ['Yours', of('Yours')],
    ['Starred', every.filter(({ id }) => favourites.value.includes(id)).map(rowOf)],
    ['Of others', of('Public')],
    ['Examples', of('Examples')],
    ['Built-in studies', BUILT_IN.map(rowOf)],
  ]
}

/** What is in the editor and was never saved, or not as it is. */
function editorRow(): readonly Row[] {
  const { source, name } = script.value
  if (source.trim() === '' || !unsaved.value) return []
  return [{ id: EDITOR, name: name.trim() || titleOf(source) || 'Untitled', note: 'not saved' }]
}

function groupOf(name: string, rows: readonly Row[], chosen: string | undefined, searched: boolean) {
  if (rows.length === 0) return null
  const links = rows.map(({ id, name: called, note }) => (
    <a
      key={id}
      class={s.script}
      href={href(`/research/${encodeURIComponent(id)}`)}
      aria-current={id === chosen ? 'page' : undefined}
      title={called}
    >
      <span>{called}</span>
      {note !== '' && <small>{note}</small>}
    </a>
  ))
  if (rows.length <= OPEN_MAX || searched)
    return (
      <Section key={name} aria-label={name} title={name}>
        {links}
      </Section>
    )
  return (
    <details key={name} open={rows.some(({ id }) => id === chosen)}>
      <summary>
        {name} <small>{rows.length}</small>
      </summary>
      {links}
    </details>
  )
}

/** Unsaved texts whose place in the editor another script has taken: a click brings one back. */
function Drafts() {
  if (drafts.value.length === 0) return null
  return (
    <Section aria-label="Drafts" title="Drafts">
      {drafts.value.map((one) => (
        <button
          key={one.at}
          type="button"
          class={cx(s.script, s.draft)}
          onClick={() => {
            openDraft(one)
            navigate('/')
          }}
        >
          <span>{one.name.trim() || 'Untitled script'}</span>
          <small>not saved</small>
        </button>
      ))}
    </Section>
  )
}
