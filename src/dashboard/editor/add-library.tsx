// The dialog that adds a missing library which the script imports: its source, once, under its own name and version.

import { call } from '../api-client.ts'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Field, toast } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { script } from '../workspace.ts'
import { checkScript } from './documents.ts'

const BODY_FIELDS = bodyFields('POST /api/platform/scripts/libraries')

/** The path that a line of the script imports; '' if it imports nothing. */
export function importedIn(source: string, line: number): string {
  const text = source.split('\n')[line - 1] ?? ''
  return /\bimport\s+([A-Za-z_]\w*\/[A-Za-z_]\w*\/\d+)/.exec(text)?.[1] ?? ''
}

export function AddLibrary({ path }: { readonly path: string }) {
  const form = useForm({
    wire: BODY_FIELDS,
    start: { path, source: '' },
    async send(body) {
      await call('POST /api/platform/scripts/libraries', { body })
      toast(`Your scripts import ${body.path} from now on`, { tone: 'up' })
      if (script.peek().source.trim() !== '') await checkScript()
    },
  })
  return (
    <FormDialog of={form} title="Add a library" action="Add the library" width={720}>
      <p class="muted">
        Copy its source from where it is published, and leave its licence line as it is: it stays yours to
        import, and nobody else’s.
      </p>
      <Field label="Imported as" {...form.field('path')} />
      <Field label="Source" rows={14} autofocus {...form.field('source')} />
      <label>
        or a file{' '}
        <input
          type="file"
          accept=".pine,.txt,text/plain"
          aria-label="The library’s source, as a file"
          onChange={({ currentTarget: { files } }) =>
            void files?.[0]?.text().then((text) => form.set('source', text))
          }
        />
      </label>
    </FormDialog>
  )
}
