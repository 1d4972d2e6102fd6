// Styles under names: keeps the selection's style under one, and gives a kept style to the selection.

import { useState } from 'preact/hooks'
import type { DrawingStyle } from '../../wire/drawing.ts'
import { theme } from '../settings.ts'
import { Dialog } from '../ui/dialog.tsx'
import { useClose } from '../ui/dialogs.tsx'
import { Button, Field, IconButton } from '../ui/ui.tsx'
import { selection, templates, type StyleTemplate } from './drawing-state.ts'
import { INK, styleOf } from './drawn.ts'
import s from './drawings.module.css'

const TEMPLATES_MAX = 50

interface TemplatesProps {
  readonly onUse: (style: DrawingStyle, how: { readonly inInk: boolean }) => void
}

export function StyleTemplates({ onUse }: TemplatesProps) {
  const [name, setName] = useState('')
  const first = selection.value[0]
  const close = useClose()
  if (!first) return null
  const wanted = name.trim().slice(0, 60)
  const keep = () => {
    if (wanted === '') return
    const { text: _text, color: _color, ...style } = styleOf(first)
    const { color } = first.style
    const others = templates.peek().filter((one) => one.name !== wanted)
    const kept = { name: wanted, style: { ...style, ...(color !== undefined && { color }) } }
    templates.value = [...others, kept].slice(-TEMPLATES_MAX)
    setName('')
  }
  return (
    <Dialog title="Styles" width={380}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          keep()
        }}
      >
        <Field
          label="Keep this style as"
          autofocus
          value={name}
          placeholder="Support"
          hint={
            templates.value.some((one) => one.name === wanted)
              ? 'There is one of this name: it is replaced.'
              : 'Colour, width, line, fill and levels, for drawings of any tool.'
          }
          onInput={setName}
        />
        <p>
          <Button size="small" variant="primary" type="submit">
            Keep
          </Button>
        </p>
      </form>
      <ul class={s.templates} aria-label="Styles that are kept">
        {templates.value.map((one) => (
          <Template
            key={one.name}
            template={one}
            onUse={() => {
              onUse(one.style, { inInk: one.style.color === undefined })
              close()
            }}
          />
        ))}
      </ul>
    </Dialog>
  )
}

function Template({ template, onUse }: { readonly template: StyleTemplate; readonly onUse: () => void }) {
  const { name, style } = template
  return (
    <li>
      <span class={s.swatch} style={{ background: style.color ?? INK[theme.value] }} />
      <span class={s.templateName}>{name}</span>
      <Button size="small" onClick={onUse}>
        Use<span class="visually-hidden"> {name}</span>
      </Button>
      <IconButton
        icon="trash"
        label={`Forget ${name}`}
        onClick={() => (templates.value = templates.peek().filter((one) => one.name !== name))}
      />
    </li>
  )
}
