// The menu of layouts in the top bar, with the dialog that asks for a name.

import { useEffect } from 'preact/hooks'
import type { Layout, LayoutChart } from '../../wire/layout.ts'
import { call } from '../api-client.ts'
import { openDialog } from '../ui/dialogs.tsx'
import { item, Menu, type MenuItem } from '../ui/menu.tsx'
import { focusChart } from '../chart/on-screen.ts'
import { ago } from '../format.ts'
import { attempt } from '../frame/page.tsx'
import { Icon } from '../ui/icon.tsx'
import { Ago } from '../ui/ago.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Button, Field, toast } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { market } from '../workspace.ts'
import {
  changedElsewhere,
  closeLayout,
  keepThese,
  openLayout,
  remove,
  rename,
  saveAs,
  saveAsOneGoes,
  show,
} from './layouts.ts'

type Asking = 'new' | 'rename'

/** `wide` and `narrow` are classes for parts that depend on the available room. */
export function LayoutMenu({ wide, narrow }: Readonly<Record<'wide' | 'narrow', string | undefined>>) {
  useEffect(saveAsOneGoes, [])
  const { name } = openLayout.value
  return (
    <>
      <Menu bar label={name === '' ? 'Layout: none' : `Layout: ${name}`} items={layoutItems} class={narrow}>
        <Icon name="grip" />
        <span class={wide}>{name || 'Layout'}</span>
      </Menu>
      {changedElsewhere.value && <ChangedElsewhere layout={changedElsewhere.value} />}
    </>
  )
}

const ask = (asking: Asking): void => openDialog(<NameDialog asking={asking} />)

async function layoutItems(): Promise<readonly MenuItem[]> {
  const { layouts } = await call('GET /api/platform/layouts')
  const open = openLayout.peek()
  return [
    ...layouts.map((layout) =>
      item(layout.name, '', () => show(layout), {
        hint: `${heldText(layout.chart)} · ${ago(layout.updatedAt)}`,
        section: 'Open',
        checked: layout.id === open.id,
      }),
    ),
    ...ownItems(open).map((one) => ({ ...one, section: 'This chart' })),
  ]
}

function ownItems({ id, name }: typeof openLayout.value): readonly MenuItem[] {
  const create = item('Save as a new layout…', 'plus', () => ask('new'))
  if (id === '') return [create]
  return [
    create,
    item('Rename…', 'note', () => ask('rename')),
    item('Save to it no longer', 'close', closeLayout),
    item(`Delete ${name}`, 'trash', () =>
      attempt(remove(id), () => toast(`${name} is deleted; the chart stays.`)),
    ),
  ]
}

const heldText = ({ symbol, grid }: LayoutChart): string =>
  grid ? `${grid.others.length + 1} charts` : symbol

/** Two tabs, or two machines, have the same layout open: neither takes away what the other has done without being asked. */
function ChangedElsewhere({ layout }: { readonly layout: Layout }) {
  return (
    <Dialog
      title="The layout was changed elsewhere"
      width={420}
      onClose={closeLayout}
      footer={
        <>
          <Button onClick={keepThese}>Keep the charts of this tab</Button>
          <Button variant="primary" onClick={() => show(layout)}>
            Show what was saved
          </Button>
        </>
      }
    >
      <p>
        Another tab or machine has saved {layout.name} <Ago at={layout.updatedAt} />. If you close this, the
        charts here stay as they are, and are saved to it no longer.
      </p>
    </Dialog>
  )
}

const FIELDS = bodyFields('POST /api/platform/layouts')

function NameDialog({ asking }: { readonly asking: Asking }) {
  const form = useForm({
    wire: FIELDS,
    start: { name: asking === 'rename' ? openLayout.peek().name : market.peek().symbol },
    async send({ name }) {
      await (asking === 'rename' ? rename(name) : saveAs(name))
      // What is typed next is a symbol, and for the chart: the dialog would give the focus back to its menu.
      requestAnimationFrame(focusChart)
    },
  })
  // Typing replaces the name that is proposed, instead of going on from it.
  useEffect(() => document.querySelector<HTMLInputElement>('input[data-autofocus]')?.select(), [])
  return (
    <FormDialog
      of={form}
      title={asking === 'rename' ? 'Rename the layout' : 'Save the layout'}
      action="Save"
      width={380}
    >
      <Field
        label="Name"
        autofocus
        hint="All charts with symbol, interval, scale and indicators, and the script. From then on it is saved as you go."
        {...form.field('name')}
      />
    </FormDialog>
  )
}
