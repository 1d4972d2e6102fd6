// The dialog of a script's earlier versions: what has changed since each, and restoring it.

import { useState } from 'preact/hooks'
import { ago } from '../format.ts'
import { Show, useAnswer } from '../frame/page.tsx'
import { runScript } from '../run-script.ts'
import { Dialog } from '../ui/dialog.tsx'
import { useClose } from '../ui/dialogs.tsx'
import { Button } from '../ui/ui.tsx'
import { script } from '../workspace.ts'
import { diffLines, type DiffLine } from './diff.ts'
import s from './editor.module.css'

/** Unchanged lines shown before and after a change. */
const CONTEXT = 3

export function Versions({ id }: { readonly id: string }) {
  const list = useAnswer('GET /api/platform/scripts/{id}/revisions', { path: { id } })
  const [chosen, setChosen] = useState<number | null>(null)
  const close = useClose()
  return (
    <Dialog title="Versions" width={960}>
      <Show of={list}>
        {({ revisions }) => {
          const current = revisions.find((one) => one.revision === chosen) ?? revisions[1] ?? revisions[0]
          return (
            <div class={s.versions}>
              <div class={s.versionList}>
                {revisions.map((one) => (
                  <button
                    key={one.revision}
                    type="button"
                    aria-current={one === current}
                    onClick={() => setChosen(one.revision)}
                  >
                    Version {one.revision}
                    <small>{ago(one.savedAt)}</small>
                  </button>
                ))}
              </div>
              {current && (
                <div>
                  <Diff lines={diffLines(current.source, script.value.source)} />
                  {current.source !== script.value.source && (
                    <p class="muted" style={{ margin: '8px 0' }}>
                      From version {current.revision} to the text in the editor.
                    </p>
                  )}
                  <Button
                    disabled={current.source === script.value.source}
                    onClick={() => {
                      script.value = { ...script.value, source: current.source }
                      close()
                      void runScript()
                    }}
                  >
                    Bring back version {current.revision}
                  </Button>
                </div>
              )}
            </div>
          )
        }}
      </Show>
    </Dialog>
  )
}

function Diff({ lines }: { readonly lines: readonly DiffLine[] }) {
  if (lines.every((line) => line.kind === ' ')) return <p class="muted">This is the text in the editor.</p>
  const near = lines.map((_, i) =>
    lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some((line) => line.kind !== ' '),
  )
  return (
    <pre class={s.diff} tabIndex={0} aria-label="Changes">
      <code>
        {lines.map((line, i) =>
          near[i] ? (
            <span key={i} data-kind={line.kind}>
              {line.kind} {line.text}
            </span>
          ) : i === 0 || near[i - 1] ? (
            <span key={i} data-kind="…">
              …
            </span>
          ) : null,
        )}
      </code>
    </pre>
  )
}
