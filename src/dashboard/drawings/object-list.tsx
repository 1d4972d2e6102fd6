// The list of a symbol's drawings, each with its points as numbers, so that users without a pointer can draw exactly.

import { useState } from 'preact/hooks'
import type { Drawing } from '../../wire/drawing.ts'
import { price as priceText, time as timeText } from '../format.ts'
import { mintick, zone } from '../chart/chart-state.ts'
import { openDialog } from '../ui/dialogs.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Button, Empty, Field, IconButton } from '../ui/ui.tsx'
import { selected } from './drawing-state.ts'
import s from './drawings.module.css'
import { changeDrawings, drawings, removeDrawings } from './sheet.ts'
import { TOOL_NAMES } from './tools.ts'

export const openObjectList = (): void => openDialog(<ObjectList />)

function ObjectList() {
  const all = drawings.value.toReversed()
  return (
    <Dialog title="Drawings" width={560}>
      {all.length === 0 ? (
        <Empty title="Nothing drawn yet">
          Choose a tool at the left of the chart, or press a tool's key and then Enter.
        </Empty>
      ) : (
        <ul class={s.objects}>
          {all.map((drawing) => (
            <Row key={drawing.id} drawing={drawing} />
          ))}
        </ul>
      )}
    </Dialog>
  )
}

function Row({ drawing }: { readonly drawing: Drawing }) {
  const [open, setOpen] = useState(selected.peek().includes(drawing.id))
  const change = (fields: Partial<Drawing>) => changeDrawings([{ ...drawing, ...fields }])
  const name = TOOL_NAMES[drawing.tool]
  const first = drawing.points[0]!
  return (
    <li>
      <div class={s.object} data-hidden={drawing.hidden === true}>
        <button type="button" class={s.objectName} aria-expanded={open} onClick={() => setOpen(!open)}>
          {name}
          <span class="muted num">
            {' '}
            {drawing.style.text?.slice(0, 40) ??
              `${priceText(first.price, mintick.value)} · ${timeText(first.time, zone.value, true)}`}
          </span>
        </button>
        <IconButton
          icon="eye"
          label={drawing.hidden ? `Show ${name}` : `Hide ${name}`}
          pressed={drawing.hidden === true}
          onClick={() => change({ hidden: !drawing.hidden })}
        />
        <Button size="small" variant="quiet" onClick={() => change({ locked: !drawing.locked })}>
          {drawing.locked ? 'Unlock' : 'Lock'}
        </Button>
        <IconButton icon="trash" label={`Remove ${name}`} onClick={() => removeDrawings([drawing])} />
      </div>
      {open && <Points drawing={drawing} />}
    </li>
  )
}

const POINTS_SHOWN = 8

function Points({ drawing }: { readonly drawing: Drawing }) {
  const { points } = drawing
  if (points.length > POINTS_SHOWN) return <p class="muted">{points.length} points.</p>
  const put = (at: number, change: Partial<Drawing['points'][number]>) =>
    changeDrawings([{ ...drawing, points: points.map((one, i) => (i === at ? { ...one, ...change } : one)) }])
  return (
    <div class={s.points}>
      {points.map((point, i) => (
        <div key={i} class={s.point}>
          <Field
            label={`Point ${i + 1}: time (UTC)`}
            type="datetime-local"
            value={new Date(point.time).toISOString().slice(0, 16)}
            onInput={(text) => {
              const time = Date.parse(`${text}Z`)
              if (Number.isFinite(time)) put(i, { time })
            }}
          />
          <Field
            label={`Point ${i + 1}: price`}
            inputMode="decimal"
            value={String(point.price)}
            onInput={(text) => {
              const price = Number(text.replace(',', '.'))
              if (text.trim() !== '' && Number.isFinite(price)) put(i, { price })
            }}
          />
        </div>
      ))}
    </div>
  )
}
