// Scores over two inputs, as a table with coloured cells, so that a screen reader can read the map as rows and columns.
// Arrow keys go from cell to cell; Enter runs a cell's best trial on the chart.

import { scoreText, type Heat } from './sweep-model.ts'
import s from './sweeps.module.css'

interface HeatMapProps {
  readonly heat: Heat
  readonly across: string
  /** null = there is only one row. */
  readonly down: string | null
  readonly open: (trial: number) => void
}

export function HeatMap({ heat, across, down, open }: HeatMapProps) {
  const { columns, rows, cells, least, most } = heat
  const strength = (score: number) => (most > least ? (score - least) / (most - least) : 1)
  const label = down === null ? `Score by ${across}` : `Score by ${across} and ${down}`
  let isFirst = true
  return (
    <div class={s.scroll} tabIndex={0} role="region" aria-label={label}>
      <table class={s.heat} onKeyDown={alongCells}>
        <caption class="visually-hidden">{label}. Each cell runs its best trial.</caption>
        <thead>
          <tr>
            <th scope="col">{down === null ? across : `${down} ↓ ${across} →`}</th>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((name, y) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {columns.map((column, x) => {
                const cell = cells[y]?.[x]
                if (!cell)
                  return (
                    <td key={column}>
                      <span class="visually-hidden">not tried, or without a score</span>
                    </td>
                  )
                const tabIndex = isFirst ? 0 : -1
                isFirst = false
                return (
                  <td key={column}>
                    <button
                      type="button"
                      tabIndex={tabIndex}
                      class={s.cell}
                      data-best={cell.score === most}
                      style={{ '--strength': `${Math.round(100 * strength(cell.score))}%` }}
                      title={`${across} ${column}${down === null ? '' : `, ${down} ${name}`}: ${scoreText(cell.score)}${cell.count > 1 ? ` (of ${cell.count} trials)` : ''}`}
                      onClick={() => open(cell.trial)}
                    >
                      {shortScore(cell.score)}
                    </button>
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })
const shortScore = (score: number): string => COMPACT.format(score).replace('-', '−')

function alongCells(event: KeyboardEvent): void {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[
    event.key
  ] ?? [0, 0]
  const from = (event.target as HTMLElement).closest('td')
  const table = event.currentTarget as HTMLTableElement
  if ((dx === 0 && dy === 0) || !from) return
  event.preventDefault()
  let x = from.cellIndex
  let y = (from.parentElement as HTMLTableRowElement).rowIndex
  for (;;) {
    x += dx!
    y += dy!
    const cell = table.rows[y]?.cells[x]
    if (!cell || y < 1 || x < 1) return
    const button = cell.querySelector('button')
    if (button) {
      button.focus()
      return
    }
  }
}
