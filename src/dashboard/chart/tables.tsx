// table.new(): a grid of cells in one of nine places over its pane, as HTML, so that its text can be read and copied.

import type { Cell } from '../../language/runtime/drawings.ts'
import type { Cell as Chart } from './cell.ts'
import s from './chart.module.css'
import { itemsAt } from './draw-drawings.ts'
import { theme } from '../settings.ts'
import { legible, textSize } from './paint.ts'
import type { DrawingsMark, MarkedPane } from './marks.ts'

type DrawnItem = Readonly<Record<string, unknown>>
type WireCell = { readonly [Field in keyof Cell]: Cell[Field] | string }

interface TablesProps {
  readonly chart: Chart
  readonly panes: readonly MarkedPane[]
  /** The last bar that a replay shows. */
  readonly cut: number | null
}

export function Tables({ chart, panes, cut }: TablesProps) {
  return (
    <>
      {panes.flatMap((pane) => {
        const box = chart.paneBoxes.value.find((one) => one.name === pane.name)
        if (!box) return []
        const { top, height, width } = box
        return pane.marks
          .filter((mark): mark is DrawingsMark => mark.kind === 'drawings')
          .flatMap(({ items, base }) => itemsAt(items, cut === null ? null : cut - base))
          .map((item, i) =>
            item?.['kind'] === 'table' ? (
              <div
                key={`${pane.name}${i}`}
                class={s.tablePlace}
                data-place={String(item['position'])}
                style={{ top: `${top}px`, height: `${height}px`, width: `${width}px` }}
              >
                <Table table={item} width={width} height={height} />
              </div>
            ) : null,
          )
      })}
    </>
  )
}

function Table({ table, width, height }: { table: DrawnItem; width: number; height: number }) {
  const columns = Number(table['columns'])
  const cells = new Map((table['cells'] ?? []) as readonly (readonly [number, WireCell])[])
  const spans = new Map<number, readonly [number, number]>()
  const covered = new Set<number>()
  for (const [left = 0, top = 0, right = 0, bottom = 0] of (table['merged'] ??
    []) as readonly (readonly number[])[]) {
    spans.set(top * columns + left, [right - left + 1, bottom - top + 1])
    for (let row = top; row <= bottom; row++)
      for (let column = left; column <= right; column++)
        if (row !== top || column !== left) covered.add(row * columns + column)
  }
  const places = [...cells.keys()].filter((place) => !covered.has(place)).sort((a, b) => a - b)
  if (places.length === 0) return null
  const border = Number(table['border_width']) || 0
  const frame = Number(table['frame_width']) || 0
  return (
    <div
      class={s.table}
      style={{
        background: color(table['bgcolor']),
        gap: `${border}px`,
        boxShadow: border > 0 ? `inset 0 0 0 ${border}px ${color(table['border_color'])}` : 'none',
        border: frame > 0 ? `${frame}px solid ${color(table['frame_color'])}` : '0',
        padding: `${border}px`,
      }}
    >
      {places.map((place) => {
        const cell = cells.get(place)!
        const [across, down] = spans.get(place) ?? [1, 1]
        return (
          <div
            key={place}
            title={typeof cell.tooltip === 'string' ? cell.tooltip : undefined}
            style={{
              gridColumn: `${(place % columns) + 1} / span ${across}`,
              gridRow: `${Math.floor(place / columns) + 1} / span ${down}`,
              outline: border > 0 ? `${border}px solid ${color(table['border_color'])}` : 'none',
              ...sized('minWidth', cell.width, width),
              ...sized('minHeight', cell.height, height),
              ...cellStyle(cell, typeof table['bgcolor'] !== 'string'),
            }}
          >
            {cell.text}
          </div>
        )
      })}
    </div>
  )
}

const color = (value: unknown): string => (typeof value === 'string' ? value : 'transparent')

/** A share of the pane in per cent, if it is given. */
const sized = (name: string, share: unknown, of: number): Record<string, string> =>
  Number(share) > 0 ? { [name]: `${(Number(share) / 100) * of}px` } : {}

/** `isBare`: its table has no background. */
function cellStyle(cell: WireCell, isBare: boolean): Record<string, string | number> {
  // A cell without a background shows its text on the page's background.
  const onPage = typeof cell.bgcolor !== 'string' && isBare
  const formatting = cell.text_formatting ?? ''
  const vertical = { top: 'start', bottom: 'end' }[String(cell.text_valign)] ?? 'center'
  const horizontal = { left: 'start', right: 'end' }[String(cell.text_halign)] ?? 'center'
  return {
    display: 'grid',
    alignItems: vertical,
    justifyItems: horizontal,
    textAlign: horizontal === 'start' ? 'left' : horizontal === 'end' ? 'right' : 'center',
    padding: '2px 6px',
    background: color(cell.bgcolor),
    color: onPage ? legible(color(cell.text_color), theme.value) : color(cell.text_color),
    fontSize: `${textSize(cell.text_size)}px`,
    fontFamily: cell.text_font_family === 'monospace' ? 'var(--mono)' : 'inherit',
    fontWeight: formatting.includes('bold') ? 600 : 400,
    fontStyle: formatting.includes('italic') ? 'italic' : 'normal',
  }
}
