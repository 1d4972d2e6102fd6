// The bar of drawing tools at the left of the chart: one button for each group, showing the tool that was used last, and
// the settings below.
//
// Arrow keys move along it, the right arrow opens a group, and Enter places the tool in the middle of the chart for users
// without a pointer.

import { useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { keysShown, turns } from '../commands.ts'
import { timeline } from '../chart/undo.ts'
import { MenuList, type MenuItem } from '../ui/menu.tsx'
import { focusChart } from '../chart/on-screen.ts'
import { Icon } from '../ui/icon.tsx'
import { Toolbar } from '../ui/toolbar.tsx'
import { cx, toast } from '../ui/ui.tsx'
import { removeAll, steps } from './attach.ts'
import {
  drawable,
  drawingMenu,
  hideAll,
  keepTool,
  lastTools,
  lockAll,
  magnet,
  tool,
} from './drawing-state.ts'
import s from './drawings.module.css'
import { openObjectList } from './object-list.tsx'
import { SelectionBar, selectionItems } from './selection-bar.tsx'
import { drawings } from './sheet.ts'
import type { Spot } from './surface.ts'
import { TOOL_GROUPS, TOOL_NAMES, type ToolGroup } from './tools.ts'

const GLYPHS = {
  pointer: 'M4 2.5l8 5.5-3.6.9-1.7 3.6z',
  magnet: 'M3.5 2.5h3v5a1.5 1.5 0 0 0 3 0v-5h3v5a4.5 4.5 0 0 1-9 0zM3.5 5h3M9.5 5h3',
  keep: 'M8 2.5v6M5 5.5l3-3 3 3M3.5 10.5v3h9v-3',
  lock: 'M4 7.5h8v6H4zM5.5 7.5V5.2a2.5 2.5 0 0 1 5 0v2.3',
  undo: 'M5.5 3 2.5 6l3 3M2.5 6h6.8a3.7 3.7 0 0 1 0 7.4H6',
  redo: 'M10.5 3l3 3-3 3M13.5 6H6.7a3.7 3.7 0 0 0 0 7.4H10',
  list: 'M2.5 4h2M2.5 8h2M2.5 12h2M7 4h6.5M7 8h6.5M7 12h6.5',
} as const

const SWITCHES = [
  ['Magnet: stick to open, high, low and close', magnet, () => <Icon path={GLYPHS.magnet} size={18} />],
  ['Keep the tool after a drawing', keepTool, () => <Icon path={GLYPHS.keep} size={18} />],
  ['Lock all drawings', lockAll, () => <Icon path={GLYPHS.lock} size={18} />],
  ['Hide all drawings', hideAll, () => <Icon name="eye" />],
] as const

const STEPS = [
  ['undo', 'Undo', timeline.canUndo],
  ['redo', 'Redo', timeline.canRedo],
] as const

export function DrawingBar() {
  const [open, setOpen] = useState<(Spot & { readonly group: ToolGroup }) | null>(null)
  const openGroup = (group: ToolGroup, button: HTMLElement) => {
    const box = button.getBoundingClientRect()
    setOpen({ group, x: box.right + 4, y: box.top })
  }
  const onKey = (event: KeyboardEvent, button: HTMLElement) => {
    const group = TOOL_GROUPS.find(({ id }) => id === button.dataset['group'])
    if (event.key !== 'ArrowRight' || !group) return false
    openGroup(group, button)
    return true
  }
  return (
    <>
      <Toolbar label="Drawing tools" vertical class={s.bar} onKey={onKey}>
        <Tool label="Pointer" keys="Esc" on={tool.value === null} run={() => (tool.value = null)}>
          <Icon path={GLYPHS.pointer} size={18} />
        </Tool>
        {TOOL_GROUPS.map((group) => (
          <GroupButton key={group.id} group={group} onOpen={openGroup} />
        ))}
        <span class={s.rule} />
        {SWITCHES.map(([label, of, glyph]) => (
          <Tool key={label} label={label} on={of.value} pressed={of.value} run={turns(of)}>
            {glyph()}
          </Tool>
        ))}
        <span class={s.rule} />
        {STEPS.map(([name, label, can]) => (
          <Tool
            key={name}
            label={label}
            keys={keysShown(`draw:${name}`)}
            disabled={!can.value}
            run={steps[name]}
          >
            <Icon path={GLYPHS[name]} size={18} />
          </Tool>
        ))}
        <Tool label={`List of drawings (${drawings.value.length})`} run={openObjectList}>
          <Icon path={GLYPHS.list} size={18} />
        </Tool>
        <Tool
          label="Remove all drawings of the symbol"
          disabled={drawings.value.length === 0}
          run={() => {
            removeAll()
            toast(`Drawings removed. ${keysShown('draw:undo') || 'Undo'} on the chart brings them back.`)
          }}
        >
          <Icon name="trash" />
        </Tool>
      </Toolbar>
      {open && (
        <MenuList
          label={open.group.title}
          items={groupItems(open.group)}
          x={open.x}
          y={open.y}
          onClose={() => setOpen(null)}
        />
      )}
      {drawingMenu.value && (
        <MenuList
          label="Drawing"
          items={selectionItems()}
          {...drawingMenu.value}
          onClose={() => (drawingMenu.value = null)}
        />
      )}
      <SelectionBar />
    </>
  )
}

const groupItems = (group: ToolGroup): readonly MenuItem[] =>
  group.tools.map((name) => ({
    text: TOOL_NAMES[name],
    section: group.title,
    checked: tool.value === name,
    hint: keysShown(`draw:${name}`),
    run: () => {
      lastTools.value = { ...lastTools.value, [group.id]: name }
      tool.value = name
      // The tool is in hand, so the next key is for the chart.
      focusChart()
    },
  }))

interface GroupProps {
  readonly group: ToolGroup
  readonly onOpen: (group: ToolGroup, button: HTMLElement) => void
}

function GroupButton({ group, onOpen }: GroupProps) {
  const last = lastTools.value[group.id]
  const { tools } = group
  const name = last && tools.includes(last) ? last : tools[0]!
  const on = tool.value !== null && tools.includes(tool.value)
  return (
    <span class={s.group}>
      <Tool
        label={TOOL_NAMES[name]}
        keys={keysShown(`draw:${name}`)}
        on={on}
        pressed={on}
        disabled={!drawable.value}
        group={group.id}
        run={() => (tool.value = on ? null : name)}
      >
        <Icon path={group.icon} size={18} />
      </Tool>
      <button
        type="button"
        class={s.more}
        data-group={group.id}
        aria-haspopup="menu"
        aria-label={`${group.title}: all tools`}
        title={group.title}
        onClick={(event) => onOpen(group, event.currentTarget)}
      >
        <Icon name="chevron" size={8} />
      </button>
    </span>
  )
}

interface ToolProps {
  readonly label: string
  readonly keys?: string
  readonly on?: boolean
  readonly pressed?: boolean
  readonly disabled?: boolean
  readonly group?: string
  readonly run: () => void
  readonly children: ComponentChildren
}

function Tool({ label, keys, on = false, pressed, disabled = false, group, run, children }: ToolProps) {
  return (
    <button
      type="button"
      class={cx(s.tool, on && s.on)}
      aria-label={label}
      aria-pressed={pressed}
      aria-disabled={disabled || undefined}
      title={keys ? `${label} (${keys})` : label}
      data-group={group}
      onClick={() => disabled || run()}
    >
      {children}
    </button>
  )
}
