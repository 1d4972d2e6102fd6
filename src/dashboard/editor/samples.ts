// The scripts that come with Chartroom, for the gallery and for the first start. Name and description are read from their first lines.

import bollingerBreakout from '../../../data/samples/bollinger-breakout.pine' with { type: 'text' }
import macdMomentum from '../../../data/samples/macd-momentum.pine' with { type: 'text' }
import rsiReversal from '../../../data/samples/rsi-reversal.pine' with { type: 'text' }
import smaCross from '../../../data/samples/sma-cross.pine' with { type: 'text' }
import supertrend from '../../../data/samples/supertrend.pine' with { type: 'text' }
import swingLevels from '../../../data/samples/swing-levels.pine' with { type: 'text' }
import turtle from '../../../data/samples/turtle.pine' with { type: 'text' }
import volatilityTarget from '../../../data/samples/volatility-target.pine' with { type: 'text' }

export const SAMPLES = [
  smaCross,
  rsiReversal,
  macdMomentum,
  supertrend,
  bollingerBreakout,
  turtle,
  volatilityTarget,
  swingLevels,
].map(sampleOf)

export function sampleOf(source: string) {
  const [, kind = 'strategy', name = 'Sample'] = /^(strategy|indicator)\(\s*"([^"]+)"/m.exec(source) ?? []
  const comment = source.split('\n').filter((line) => /^\/\/(?!\s*@)/.test(line))
  const first = comment.map((line) => line.replace(/^\/\/\s?/, '')).join(' ')
  return { name, kind: kind === 'indicator' ? kind : 'strategy', about: first.trim(), source } as const
}
