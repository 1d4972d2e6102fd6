// How large the boxes of Renko, Kagi, point and figure and range bars are. What is changed is on the chart at once.

import { price } from '../format.ts'
import { Segments } from '../ui/segments.tsx'
import { openDialog } from '../ui/dialogs.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/ui.tsx'
import { activeCell, boxes, chartType, mintick } from './chart-state.ts'
import { DEFAULT_BOXES, type Boxes } from './price-bars.ts'

export const openBoxesDialog = (): void => openDialog(<BoxesDialog />)

function BoxesDialog() {
  const now = boxes.value ?? DEFAULT_BOXES
  const type = chartType.value
  const set = (change: Partial<Boxes>) => (boxes.value = { ...now, ...change })
  const box = activeCell.value.drawn.value?.box ?? 0
  const field = (label: string, name: 'length' | 'size' | 'reversal' | 'lines', hint: string) => (
    <Field
      label={label}
      type="number"
      value={String(now[name])}
      hint={hint}
      onInput={(text) => {
        const value = Number(text)
        const isWhole = Number.isInteger(value) && value >= 1 && value <= (name === 'length' ? 500 : 20)
        if (name === 'size' ? value > 0 && Number.isFinite(value) : isWhole) set({ [name]: value })
      }}
    />
  )
  return (
    <Dialog title="How far the price has to move" width={400}>
      <div style={{ display: 'grid', gap: '14px' }}>
        {type === 'line-break' ? (
          field('Lines', 'lines', 'A turn has to go beyond this many lines: a whole number from 1 to 20')
        ) : (
          <>
            <Segments
              label="Size"
              value={now.by}
              options={{ atr: 'Average true range', price: 'In price' }}
              onChange={(by) => set({ by })}
            />
            {now.by === 'atr'
              ? field(
                  'Bars of the average',
                  'length',
                  `From 1 to 500. At the newest bar that is ${price(box, mintick.value)}`,
                )
              : field('Size in price', 'size', 'A number above 0')}
            {type === 'point-figure' &&
              field('Boxes of a reversal', 'reversal', 'A column turns after this many: 1 to 20')}
          </>
        )}
      </div>
    </Dialog>
  )
}
