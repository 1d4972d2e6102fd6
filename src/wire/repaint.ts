// Whether a backtest sees the future, or would show something else live.

import { Type } from '@sinclair/typebox'
import { nullable, oneOf, Time, type Wire } from './schema.ts'
import { words } from '../lib/words.ts'

const RepaintFinding = Type.Object({
  cause: oneOf(
    words(
      'lookahead_on last_bar last_box negative_offset drawn_back calc_on_order_fills barstate',
      'higher_interval lower_interval varip calc_on_every_tick timenow unknown',
    ),
  ),
  kind: oneOf(['lookahead', 'repaint']),
  message: Type.String(),
  remedy: Type.String(),
  line: nullable(Type.Integer()),
  column: nullable(Type.Integer()),
  evidence: oneOf(['run', 'text']),
  plots: Type.Array(Type.String(), { description: 'Titles of the plots that differ.' }),
  trades: Type.Boolean({ description: 'Whether orders or trades differ.' }),
  samples: Type.Integer({ description: 'The number of tested bars on which it differs.' }),
  bar: nullable(
    Type.Integer({ description: 'The first bar on which a difference was seen, counted from 0.' }),
  ),
  time: nullable(Time),
})
export type RepaintFinding = Wire<typeof RepaintFinding>

export const Repaint = Type.Object(
  {
    clean: Type.Boolean(),
    samples: Type.Integer({ description: 'The number of bars it was tested on.' }),
    findings: Type.Array(RepaintFinding),
  },
  { $id: 'Repaint' },
)
export type Repaint = Wire<typeof Repaint>
