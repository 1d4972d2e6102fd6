// The dialog of what can be put on the chart: the indicators that come with Chartroom, the user's own scripts, other
// people's, and the examples.
//
// Enter or a click adds an indicator and leaves the dialog open for the next one. A strategy opens in the editor instead,
// because its point is its trades and its report.

import { useMemo, useState } from 'preact/hooks'
import { studyDialog } from '../chart/chart-state.ts'
import { subjectItems } from '../research/subject-menu.ts'
import { asSubject } from '../research/subject.ts'
import { Combobox } from '../ui/combobox.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Badge, Button, cx, Empty } from '../ui/ui.tsx'
import { bottom } from '../workspace.ts'
import { BUILT_IN, EXAMPLES, favourites, star, useStored, type ListedStudy } from './catalogue.ts'
import s from './studies.module.css'
import { addStudy, studies } from './studies.ts'

export function StudyDialog() {
  const text = studyDialog.value ?? ''
  const [group, setGroup] = useState('')
  const [at, setAt] = useState(0)
  const every = useStored()
  const all = useMemo(
    () => [...every.filter(({ kind }) => kind !== 'library'), ...BUILT_IN, ...EXAMPLES],
    [every],
  )
  const groups = ['', 'Favourites', ...new Set(all.map((row) => row.group))]
  const found = useMemo(() => matching(all, text, group), [all, text, group, favourites.value])
  const chosen = found[Math.min(at, found.length - 1)]
  return (
    <Dialog title="Indicators and strategies" onClose={() => (studyDialog.value = null)} width={720}>
      <Combobox
        class={s.search}
        value={text}
        placeholder="Search: rsi, bands, volume…"
        aria-label="Search indicators"
        list="studies"
        found={found.length}
        at={at}
        data-autofocus
        onMove={setAt}
        onText={(typed) => {
          studyDialog.value = typed
          setAt(0)
        }}
        onEnter={() => chosen && put(chosen)}
      />
      <Groups
        names={groups}
        chosen={group}
        onChoose={(name) => {
          setGroup(name)
          setAt(0)
        }}
      />
      {found.length === 0 ? (
        <Empty title="Nothing is called that">Another word, or another group.</Empty>
      ) : (
        <ul id="studies" class={s.list} role="listbox" aria-label="Indicators and strategies">
          {found.map((row, i) => (
            <Entry key={row.id} row={row} index={i} isChosen={row === chosen} onPoint={() => setAt(i)} />
          ))}
        </ul>
      )}
      {chosen && <Actions row={chosen} />}
    </Dialog>
  )
}

interface GroupsProps {
  readonly names: readonly string[]
  readonly chosen: string
  readonly onChoose: (name: string) => void
}

const Groups = ({ names, chosen, onChoose }: GroupsProps) => (
  <div class={s.groups} role="group" aria-label="Which">
    {names.map((name) => (
      <Button
        key={name}
        size="small"
        variant="quiet"
        pressed={chosen === name}
        onClick={() => onChoose(name)}
      >
        {name || 'All'}
      </Button>
    ))}
  </div>
)

const timesOnChart = ({ id }: ListedStudy): number => studies.value.filter(({ from }) => from === id).length

interface EntryProps {
  readonly row: ListedStudy
  readonly index: number
  readonly isChosen: boolean
  readonly onPoint: () => void
}

function Entry({ row, index, isChosen, onPoint }: EntryProps) {
  const onChart = timesOnChart(row)
  return (
    <li
      id={`studies-${index}`}
      class={s.row}
      role="option"
      aria-selected={isChosen}
      onClick={() => put(row)}
      onPointerMove={onPoint}
    >
      <span class={cx(s.star, favourites.value.includes(row.id) && s.starred)} aria-hidden="true">
        <Icon name="star" size={12} />
      </span>
      <span class={s.name}>{row.name}</span>
      {row.short && row.short !== row.name && <span class="muted">{row.short}</span>}
      <span class={s.gap} />
      {onChart > 0 && (
        <Badge tone="accent">{onChart === 1 ? 'on the chart' : `${onChart} on the chart`}</Badge>
      )}
      {row.kind === 'strategy' && <Badge>strategy</Badge>}
      <span class={cx('muted', s.group)}>{row.group}</span>
    </li>
  )
}

/** Further actions on the chosen row; by keyboard, Tab leads here. */
function Actions({ row }: { readonly row: ListedStudy }) {
  const starred = favourites.value.includes(row.id)
  const isOnChart = timesOnChart(row) > 0
  return (
    <div class={s.actions}>
      <span class="muted">{row.name}</span>
      <span class={s.gap} />
      <Button size="small" icon="star" pressed={starred} onClick={() => star(row.id)}>
        {starred ? 'Not a favourite' : 'Favourite'}
      </Button>
      <Button size="small" icon="code" onClick={() => edit(row)}>
        Open in the editor
      </Button>
      <Menu
        label={`More for ${row.name}`}
        size="small"
        items={subjectItems(asSubject(row), 'chart').map((item) => ({
          ...item,
          run: () => {
            studyDialog.value = null
            item.run()
          },
        }))}
      />
      <Button size="small" variant="primary" icon="plus" onClick={() => put(row)}>
        {row.kind === 'strategy' ? 'Run in the editor' : isOnChart ? 'Add once more' : 'Add to the chart'}
      </Button>
    </div>
  )
}

function edit(row: ListedStudy): void {
  studyDialog.value = null
  bottom.value = 'script'
  row.edit()
}

function put(row: ListedStudy): void {
  const { id, name, short, source, kind } = row
  if (kind !== 'strategy') return addStudy({ name, shortName: short || name, source, from: id })
  studyDialog.value = null
  row.edit()
}

/** Matches by name come first, the one with least besides what was typed before the others, then those by other names. */
function matching(all: readonly ListedStudy[], text: string, group: string): readonly ListedStudy[] {
  const words = text.trim().toLowerCase()
  const starred = new Set(favourites.peek())
  const rank = (row: ListedStudy): number => {
    if (group === 'Favourites' ? !starred.has(row.id) : group !== '' && row.group !== group) return 9
    if (words === '') return starred.has(row.id) ? 0 : 1
    const [name, short] = [row.name.toLowerCase(), row.short.toLowerCase()]
    if (short === words || name === words) return 0
    const begun = [short, name].filter((one) => one.startsWith(words)).map(({ length }) => length)
    if (begun.length > 0) return 2 - 1 / Math.min(...begun)
    if (name.includes(words)) return 2
    const all = `${name} ${short} ${row.words.toLowerCase()}`
    return words.split(/\s+/).every((word) => all.includes(word)) ? 3 : 9
  }
  return all
    .map((row) => ({ row, rank: rank(row) }))
    .filter((one) => one.rank < 9)
    .sort((a, b) => a.rank - b.rank)
    .map((one) => one.row)
    .slice(0, 300)
}
