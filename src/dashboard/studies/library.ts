// The indicators that come with Chartroom, each a script of `data/indicators` that describes itself.

import accdist from '../../../data/indicators/accdist.pine' with { type: 'text' }
import accelerator from '../../../data/indicators/accelerator.pine' with { type: 'text' }
import adr from '../../../data/indicators/adr.pine' with { type: 'text' }
import adx from '../../../data/indicators/adx.pine' with { type: 'text' }
import alligator from '../../../data/indicators/alligator.pine' with { type: 'text' }
import alma from '../../../data/indicators/alma.pine' with { type: 'text' }
import aroon from '../../../data/indicators/aroon.pine' with { type: 'text' }
import atr from '../../../data/indicators/atr.pine' with { type: 'text' }
import awesome from '../../../data/indicators/awesome.pine' with { type: 'text' }
import bbPercentB from '../../../data/indicators/bb-percent-b.pine' with { type: 'text' }
import bbWidth from '../../../data/indicators/bb-width.pine' with { type: 'text' }
import bollinger from '../../../data/indicators/bollinger.pine' with { type: 'text' }
import bop from '../../../data/indicators/bop.pine' with { type: 'text' }
import cci from '../../../data/indicators/cci.pine' with { type: 'text' }
import chaikinOscillator from '../../../data/indicators/chaikin-oscillator.pine' with { type: 'text' }
import chandeKroll from '../../../data/indicators/chande-kroll.pine' with { type: 'text' }
import chandelier from '../../../data/indicators/chandelier.pine' with { type: 'text' }
import choppiness from '../../../data/indicators/choppiness.pine' with { type: 'text' }
import cmf from '../../../data/indicators/cmf.pine' with { type: 'text' }
import cmo from '../../../data/indicators/cmo.pine' with { type: 'text' }
import connorsRsi from '../../../data/indicators/connors-rsi.pine' with { type: 'text' }
import coppock from '../../../data/indicators/coppock.pine' with { type: 'text' }
import correlation from '../../../data/indicators/correlation.pine' with { type: 'text' }
import cumulativeVolumeDelta from '../../../data/indicators/cumulative-volume-delta.pine' with { type: 'text' }
import dema from '../../../data/indicators/dema.pine' with { type: 'text' }
import donchian from '../../../data/indicators/donchian.pine' with { type: 'text' }
import dpo from '../../../data/indicators/dpo.pine' with { type: 'text' }
import ema from '../../../data/indicators/ema.pine' with { type: 'text' }
import envelope from '../../../data/indicators/envelope.pine' with { type: 'text' }
import eom from '../../../data/indicators/eom.pine' with { type: 'text' }
import fisher from '../../../data/indicators/fisher.pine' with { type: 'text' }
import footprint from '../../../data/indicators/footprint.pine' with { type: 'text' }
import forceIndex from '../../../data/indicators/force-index.pine' with { type: 'text' }
import highLow52 from '../../../data/indicators/high-low-52.pine' with { type: 'text' }
import historicalVolatility from '../../../data/indicators/historical-volatility.pine' with { type: 'text' }
import hma from '../../../data/indicators/hma.pine' with { type: 'text' }
import ichimoku from '../../../data/indicators/ichimoku.pine' with { type: 'text' }
import kama from '../../../data/indicators/kama.pine' with { type: 'text' }
import keltner from '../../../data/indicators/keltner.pine' with { type: 'text' }
import klinger from '../../../data/indicators/klinger.pine' with { type: 'text' }
import kst from '../../../data/indicators/kst.pine' with { type: 'text' }
import lsma from '../../../data/indicators/lsma.pine' with { type: 'text' }
import maCross from '../../../data/indicators/ma-cross.pine' with { type: 'text' }
import maRibbon from '../../../data/indicators/ma-ribbon.pine' with { type: 'text' }
import macd from '../../../data/indicators/macd.pine' with { type: 'text' }
import marketStructure from '../../../data/indicators/market-structure.pine' with { type: 'text' }
import massIndex from '../../../data/indicators/mass-index.pine' with { type: 'text' }
import mcginley from '../../../data/indicators/mcginley.pine' with { type: 'text' }
import mfi from '../../../data/indicators/mfi.pine' with { type: 'text' }
import momentum from '../../../data/indicators/momentum.pine' with { type: 'text' }
import natr from '../../../data/indicators/natr.pine' with { type: 'text' }
import nvi from '../../../data/indicators/nvi.pine' with { type: 'text' }
import obv from '../../../data/indicators/obv.pine' with { type: 'text' }
import parabolicSar from '../../../data/indicators/parabolic-sar.pine' with { type: 'text' }
import pivots from '../../../data/indicators/pivots.pine' with { type: 'text' }
import pivotsHighLow from '../../../data/indicators/pivots-high-low.pine' with { type: 'text' }
import ppo from '../../../data/indicators/ppo.pine' with { type: 'text' }
import previousHighLow from '../../../data/indicators/previous-high-low.pine' with { type: 'text' }
import pvt from '../../../data/indicators/pvt.pine' with { type: 'text' }
import rci from '../../../data/indicators/rci.pine' with { type: 'text' }
import regressionChannel from '../../../data/indicators/regression-channel.pine' with { type: 'text' }
import relativeVolume from '../../../data/indicators/relative-volume.pine' with { type: 'text' }
import rma from '../../../data/indicators/rma.pine' with { type: 'text' }
import roc from '../../../data/indicators/roc.pine' with { type: 'text' }
import rsi from '../../../data/indicators/rsi.pine' with { type: 'text' }
import rvi from '../../../data/indicators/rvi.pine' with { type: 'text' }
import rvolIndex from '../../../data/indicators/rvol-index.pine' with { type: 'text' }
import sessions from '../../../data/indicators/sessions.pine' with { type: 'text' }
import sma from '../../../data/indicators/sma.pine' with { type: 'text' }
import smiErgodic from '../../../data/indicators/smi-ergodic.pine' with { type: 'text' }
import squeeze from '../../../data/indicators/squeeze.pine' with { type: 'text' }
import starc from '../../../data/indicators/starc.pine' with { type: 'text' }
import stdev from '../../../data/indicators/stdev.pine' with { type: 'text' }
import stochastic from '../../../data/indicators/stochastic.pine' with { type: 'text' }
import stochasticRsi from '../../../data/indicators/stochastic-rsi.pine' with { type: 'text' }
import supertrend from '../../../data/indicators/supertrend.pine' with { type: 'text' }
import supportResistance from '../../../data/indicators/support-resistance.pine' with { type: 'text' }
import swma from '../../../data/indicators/swma.pine' with { type: 'text' }
import tema from '../../../data/indicators/tema.pine' with { type: 'text' }
import trix from '../../../data/indicators/trix.pine' with { type: 'text' }
import tsi from '../../../data/indicators/tsi.pine' with { type: 'text' }
import ulcer from '../../../data/indicators/ulcer.pine' with { type: 'text' }
import ultimate from '../../../data/indicators/ultimate.pine' with { type: 'text' }
import volume from '../../../data/indicators/volume.pine' with { type: 'text' }
import volumeDelta from '../../../data/indicators/volume-delta.pine' with { type: 'text' }
import volumeOscillator from '../../../data/indicators/volume-oscillator.pine' with { type: 'text' }
import volumeProfile from '../../../data/indicators/volume-profile.pine' with { type: 'text' }
import vortex from '../../../data/indicators/vortex.pine' with { type: 'text' }
import vwap from '../../../data/indicators/vwap.pine' with { type: 'text' }
import vwma from '../../../data/indicators/vwma.pine' with { type: 'text' }
import williamsFractals from '../../../data/indicators/williams-fractals.pine' with { type: 'text' }
import williamsR from '../../../data/indicators/williams-r.pine' with { type: 'text' }
import wma from '../../../data/indicators/wma.pine' with { type: 'text' }
import woodiesCci from '../../../data/indicators/woodies-cci.pine' with { type: 'text' }
import zigzag from '../../../data/indicators/zigzag.pine' with { type: 'text' }

export interface LibraryIndicator {
  readonly id: string
  readonly title: string
  readonly shortTitle: string
  readonly category: string
  /** Other names that people search for it by. */
  readonly also: string
  readonly source: string
}

/** Sources by file name. */
const SOURCES: Readonly<Record<string, string>> = {
  accdist,
  accelerator,
  adr,
  adx,
  alligator,
  alma,
  aroon,
  atr,
  awesome,
  'bb-percent-b': bbPercentB,
  'bb-width': bbWidth,
  bollinger,
  bop,
  cci,
  'chaikin-oscillator': chaikinOscillator,
  'chande-kroll': chandeKroll,
  chandelier,
  choppiness,
  cmf,
  cmo,
  'connors-rsi': connorsRsi,
  coppock,
  correlation,
  'cumulative-volume-delta': cumulativeVolumeDelta,
  dema,
  donchian,
  dpo,
  ema,
  envelope,
  eom,
  fisher,
  footprint,
  'force-index': forceIndex,
  'high-low-52': highLow52,
  'historical-volatility': historicalVolatility,
  hma,
  ichimoku,
  kama,
  keltner,
  klinger,
  kst,
  lsma,
  'ma-cross': maCross,
  'ma-ribbon': maRibbon,
  macd,
  'market-structure': marketStructure,
  'mass-index': massIndex,
  mcginley,
  mfi,
  momentum,
  natr,
  nvi,
  obv,
  'parabolic-sar': parabolicSar,
  pivots,
  'pivots-high-low': pivotsHighLow,
  ppo,
  'previous-high-low': previousHighLow,
  pvt,
  rci,
  'regression-channel': regressionChannel,
  'relative-volume': relativeVolume,
  rma,
  roc,
  rsi,
  rvi,
  'rvol-index': rvolIndex,
  sessions,
  sma,
  'smi-ergodic': smiErgodic,
  squeeze,
  starc,
  stdev,
  stochastic,
  'stochastic-rsi': stochasticRsi,
  supertrend,
  'support-resistance': supportResistance,
  swma,
  tema,
  trix,
  tsi,
  ulcer,
  ultimate,
  volume,
  'volume-delta': volumeDelta,
  'volume-oscillator': volumeOscillator,
  'volume-profile': volumeProfile,
  vortex,
  vwap,
  vwma,
  'williams-fractals': williamsFractals,
  'williams-r': williamsR,
  wma,
  'woodies-cci': woodiesCci,
  zigzag,
}

export const LIBRARY: readonly LibraryIndicator[] = Object.entries(SOURCES).map(([id, source]) => ({
  id,
  source,
  ...headOf(source),
}))

/**
 * The titles are the declaration's; category and other names are in comments above it: `// Category: Bands`, `// Also: BB,
 * volatility bands`.
 */
export function headOf(source: string): Omit<LibraryIndicator, 'id' | 'source'> {
  const comment = (name: string) => new RegExp(`^// ${name}: (.+)$`, 'm').exec(source)?.[1]?.trim() ?? ''
  const [, title = ''] = /^indicator\(\s*"([^"]+)"/m.exec(source) ?? []
  const [, shortTitle = title] = /^indicator\([^)]*shorttitle\s*=\s*"([^"]+)"/m.exec(source) ?? []
  return { title, shortTitle, category: comment('Category'), also: comment('Also') }
}
