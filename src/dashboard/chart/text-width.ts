// How wide texts on a chart are: measured once each, since asking in every frame costs more than drawing them.

import { lazily, memo } from '../../lib/memo.ts'

/** The size of letters beside marks and lines, CSS pixels. */
export const LABEL_SIZE = 11

const scratch = lazily(() => document.createElement('canvas').getContext('2d')!)

const measured = memo(5000, (key) => {
  const [font = '', text = ''] = key.split(/\n(.*)/s)
  scratch().font = font
  return scratch().measureText(text).width
})

/** CSS pixels of a text in letters of that size. `font`: that of the theme, another string once its typeface has come. */
export const textWidth = (text: string, font: string): number => measured(`${LABEL_SIZE}px ${font}\n${text}`)
