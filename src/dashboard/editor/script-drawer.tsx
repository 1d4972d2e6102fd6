// The drawer of the script below the chart: its text, inputs, problems, and a menu of actions.

import { useSignalEffect } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { counted } from '../format.ts'
import { addCommands, commandOf, commands, isTyping, keysShown, withKeys, type Command } from '../commands.ts'
import { attempt } from '../frame/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { ownKeysShown } from '../own-keys.ts'
import { editedSubject } from '../research/subject.ts'
import { askToDelete, goTo, subjectItems } from '../research/subject-menu.ts'
import { cancelRun, runScript } from '../run-script.ts'
import { remembered } from '../settings.ts'
import { openDialog } from '../ui/dialogs.tsx'
import type { IconName } from '../ui/icon.tsx'
import { item, Menu, type MenuItem, type MenuItems } from '../ui/menu.tsx'
import { Badge, Button, Said, IconButton } from '../ui/ui.tsx'
import { bottom, diagnostics, jumpTo, lastDone, previewing, run, running, script } from '../workspace.ts'
import { AddLibrary, importedIn } from './add-library.tsx'
import { mountCodeEditor, type CodeEditor } from './code-editor.ts'
import {
  checked,
  checkScript,
  deleteScript,
  formatScript,
  newScript,
  openCopy,
  openFirst,
  problems,
  publishOrNot,
  saveScript,
  unsaved,
  visibility,
} from './documents.ts'
import s from './editor.module.css'
import { fixesOf } from './fixes.ts'
import { OpenScripts } from './gallery.tsx'
import { InputsPanel } from './properties-panel.tsx'
import { changedCount } from './properties-model.ts'
import { SAMPLES } from './samples.ts'
import { nameFollower } from './title-of.ts'
import { Versions } from './versions.tsx'

const CHECK_DELAY_MS = 250
const inputsShown = remembered('script.inputs', true)

export function ScriptDrawer() {
  const host = useRef<HTMLDivElement>(null)
  const editor = useEditor(host)
  const [narrowInputs, setNarrowInputs] = useState(false)
  useEffect(() => addCommands(scriptCommands(editor)), [])
  const list = checked.value?.inputs ?? []
  const showInputs = hasSettings() && inputsShown.value
  return (
    <div class={s.drawer}>
      <div class={s.tools}>
        <RunTools />
        <span class={s.grow} />
        <Button
          size="small"
          disabled={!unsaved.value}
          title={withKeys('Save', 'script:save')}
          onClick={() => void saveScript()}
        >
          Save
        </Button>
        <Button size="small" variant="quiet" onClick={() => openScripts('mine')}>
          Open
        </Button>
        <Button size="small" variant="quiet" class={s.wide ?? ''} onClick={() => openScripts('examples')}>
          Examples
        </Button>
        <SettingsTools narrow={narrowInputs} onNarrow={setNarrowInputs} />
        <Menu label="More for this script" size="small" items={menuItems(editor)} />
      </div>
      <div class={s.body} data-inputs={showInputs && narrowInputs}>
        <div ref={host} class={s.host} data-editor="pine" />
        {showInputs && (innerWidth > 760 || narrowInputs) && <InputsPanel list={list} />}
      </div>
      <Problems editor={editor.current} />
    </div>
  )
}

const openScripts = (first: 'mine' | 'examples'): void => openDialog(<OpenScripts first={first} />)

const addLibrary = (path: string): void => openDialog(<AddLibrary path={path} />)

function openVersions(): void {
  const { id } = script.value
  if (id !== null) openDialog(<Versions id={id} />)
}

type EditorRef = { readonly current: CodeEditor | null }

/** The editor in its place, which has the open script's text, its problems, and the cursor where somebody asks for it. */
function useEditor(host: { readonly current: HTMLDivElement | null }): EditorRef {
  const editor = useRef<CodeEditor | null>(null)
  useEffect(() => {
    // On the first start the editor opens with an example.
    const sample = SAMPLES[0]
    if (script.value.source === '' && script.value.id === null && sample) openFirst(sample)
    if (!host.current) return undefined
    const renamed = nameFollower()
    editor.current = mountCodeEditor(host.current, {
      text: script.value.source,
      onChange: (source) => {
        const { name, source: before } = script.value
        if (source !== before) script.value = { ...script.value, source, name: renamed(name, before, source) }
      },
    })
    return () => editor.current?.destroy()
  }, [])
  useSignalEffect(() => {
    const { source } = script.value
    editor.current?.setText(source)
    const timer = setTimeout(() => void checkScript(), CHECK_DELAY_MS)
    return () => clearTimeout(timer)
  })
  useSignalEffect(() => editor.current?.setProblems(problems.value))
  useSignalEffect(() => {
    const to = jumpTo.value
    if (to) editor.current?.jumpTo(to.line, to.column)
  })
  return editor
}

/** Runs the script and shows its report, unless whoever asked types or has gone on; or the first mistake that keeps it from running. */
async function runOrShow(): Promise<void> {
  const from = document.activeElement
  const isDone = await runScript()
  const first = diagnostics.peek().find(({ severity }) => severity === 'error')
  if (first) jumpTo.value = { line: first.line, column: first.column }
  else if (isDone && bottom.peek() === 'script' && !isTyping(from) && hasStayed(from)) showReport()
}

/** Run is disabled while it runs, and loses the focus to the page. */
function hasStayed(from: Element | null): boolean {
  const { activeElement, body } = document
  return activeElement === from || activeElement === body
}

/** The button that was pressed is gone then, so the tab has the focus. */
function showReport(): void {
  if (run.peek()?.report.script.kind !== 'strategy') return
  commands.value.find(({ id }) => id === 'show:report')?.run()
}

/** Running the script, its name, and what became of it. */
function RunTools() {
  // A click while an input's preview runs is not lost.
  const isBusy = running.value && !previewing.value
  return (
    <>
      <Button
        size="small"
        variant="primary"
        icon="play"
        disabled={isBusy}
        title={withKeys('Run', 'script:run')}
        onClick={() => void runOrShow()}
      >
        {isBusy ? 'Running' : 'Run'}
      </Button>
      <Button size="small" onClick={() => goTo(editedSubject(), 'optimise')}>
        Optimise
      </Button>
      <input
        class={s.name}
        aria-label="Name of the script"
        placeholder="Name it"
        value={script.value.name}
        maxLength={200}
        onInput={(event) => (script.value = { ...script.value, name: event.currentTarget.value })}
      />
      <span class={s.state} role="status">
        {unsaved.value && (
          <>
            <span class={s.dot} />
            Not saved
          </>
        )}
      </span>
      <span class={s.state} role="status">
        {lastDone.value && !running.value && `${unsaved.value ? '· ' : ''}${doneText(lastDone.value)}`}
      </span>
      {/* Behind all that can be clicked: it comes and goes by itself with previews, and nothing may move under the pointer. */}
      {running.value && (
        <Button size="small" onClick={cancelRun}>
          Cancel
        </Button>
      )}
    </>
  )
}

const hasSettings = (): boolean =>
  (checked.value?.inputs.length ?? 0) > 0 || (checked.value?.declaration ?? null) !== null

/** The switch of the panel of inputs, and how many properties are not as the script has them. */
function SettingsTools({ narrow, onNarrow }: { narrow: boolean; onNarrow: (shown: boolean) => void }) {
  if (!hasSettings()) return null
  const properties = changedCount(script.value)
  const isWide = innerWidth > 760
  return (
    <>
      {properties > 0 && (
        <span class={s.wide} title="The script runs with properties that differ from its declaration">
          <Badge tone="accent">
            {properties} {properties === 1 ? 'property' : 'properties'} changed
          </Badge>
        </span>
      )}
      <IconButton
        icon="tune"
        label="Inputs"
        pressed={isWide ? inputsShown.value : narrow}
        onClick={() => (isWide ? (inputsShown.value = !inputsShown.value) : onNarrow(!narrow))}
      />
    </>
  )
}

/** What can be done with the text, and with the script that it is. */
function menuItems(editor: EditorRef): MenuItems {
  const { name, source } = script.value
  const isPublic = visibility.value === 'public'
  return [
    ...subjectItems(editedSubject(), 'editor'),
    '-',
    item('New script', 'plus', newScript),
    item('Examples', 'star', () => openScripts('examples')),
    item('Format', 'code', () => attempt(formatScript()), { hint: keysShown('script:format') }),
    item('Find and replace', 'search', () => editor.current?.find(), { hint: ownKeysShown('editor:find') }),
    item('Comment lines', 'list', () => editor.current?.toggleComment(), {
      hint: ownKeysShown('editor:comment'),
    }),
    '-',
    ofStored('Versions', 'clock', openVersions),
    ofStored(
      isPublic ? 'Make private' : 'Publish',
      'eye',
      (stored) => attempt(publishOrNot({ id: stored, visibility: visibility.value })),
      { note: isPublic ? 'Everybody can find it and read its source.' : 'Only you can see it.' },
    ),
    item('Make a copy', 'copy', () => openCopy(`${name} copy`, source, script.value)),
    '-',
    ofStored('Delete', 'trash', (stored) => askToDelete(name, () => deleteScript(stored)), { danger: true }),
  ]
}

/** What can be done with a script once it is saved. */
function ofStored(text: string, icon: IconName, run: (id: string) => void, more: Partial<MenuItem> = {}) {
  const { id } = script.value
  return item(text, icon, () => id !== null && run(id), { ...more, disabled: id === null })
}

/** Also a run that changed nothing leaves a sign that it was made. */
const doneText = ({ at, isSame }: NonNullable<(typeof lastDone)['value']>): string =>
  `Ran at ${new Date(at).toLocaleTimeString('en-GB')}${isSame ? ', same result' : ''}`

export function scriptCommands(editor: EditorRef): readonly Command[] {
  const does = commandOf('Script')
  return [
    does('script:run', 'Run script', 'Mod+Enter', () => void runOrShow()),
    does('script:save', 'Save script', 'Mod+S', () => void saveScript()),
    does('script:new', 'New script', '', newScript),
    does('script:open', 'Open script…', '', () => openScripts('mine')),
    does('script:examples', 'Open an example…', '', () => openScripts('examples')),
    does('script:versions', 'Versions of the script…', '', openVersions, () => script.value.id !== null),
    does('script:format', 'Format script', 'Alt+Shift+F', () => attempt(formatScript())),
    does('script:find', 'Find in script', '', () => editor.current?.find()),
    does('script:comment', 'Comment or uncomment lines', '', () => editor.current?.toggleComment()),
  ]
}

/** The status line of the script, and below it its problems; a click on one jumps to its place. */
function Problems({ editor }: { readonly editor: CodeEditor | null }) {
  const [filter, setFilter] = useState<'all' | 'error'>('all')
  const found = problems.value
  const wrong = found.filter(({ severity }) => severity === 'error')
  const errors = wrong.length
  const warnings = found.length - errors
  const shown = filter === 'error' ? wrong : found
  const state = checked.value
  const last = run.value
  return (
    <div class={s.foot}>
      <div class={s.status}>
        {state && (
          <span>
            {state.kind === 'draft' ? 'Draft' : state.kind.charAt(0).toUpperCase() + state.kind.slice(1)}
            {state.pineVersion !== null && ` · Pine v${state.pineVersion}`}
          </span>
        )}
        <span role="status" class={errors > 0 ? 'down' : undefined}>
          {errors > 0
            ? counted(errors, 'error')
            : warnings > 0
              ? counted(warnings, 'warning')
              : state
                ? 'No problems'
                : ''}
        </span>
        <span class={s.grow} />
        {last && !running.value && (
          <Button size="small" variant="quiet" icon="report" onClick={() => (bottom.value = 'report')}>
            Open the report
          </Button>
        )}
        {errors > 0 && warnings > 0 && (
          <Segments
            label="Shown problems"
            value={filter}
            options={{ all: 'All', error: 'Errors' }}
            onChange={setFilter}
          />
        )}
      </div>
      {shown.length > 0 && (
        <ul class={s.problems} aria-label="Problems">
          {shown.slice(0, 100).map((one, i) => (
            <li key={i}>
              <button
                type="button"
                class={s.problem}
                data-severity={one.severity}
                onClick={() => (jumpTo.value = { line: one.line, column: one.column })}
              >
                <i />
                <span class={s.where}>line {one.line}</span>
                <span>
                  <Said text={one.message} />{' '}
                  {one.hint && (
                    <small>
                      <Said text={one.hint} />
                    </small>
                  )}
                </span>
              </button>
              {editor &&
                fixesOf(one, editor.markedBy(one)).map((fix) => (
                  <Button key={fix.label} size="small" onClick={() => editor.fix(one, fix)}>
                    {fix.label}
                  </Button>
                ))}
              {one.code === 'library-not-found' && (
                <Button
                  size="small"
                  icon="plus"
                  onClick={() => addLibrary(importedIn(script.value.source, one.line))}
                >
                  Add the library
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
