// How much of a sweep's best is luck: the two tests that take long (`broker/statistics/overfitting.ts` and
// `broker/statistics/reality-check.ts`), in parts that any worker of any server can do by itself.
//
// A part is a range of the pairs of splits, of the drawn histories, or of both. What it finds of them hangs on nothing else, so
// the whole is the same to the last bit, whoever did which part, and however many there were.

import { rowLayout, type Measured } from '../../broker/measured.ts'
import { judgedPairs, pairsOfSplits, type BlockSums } from '../../broker/statistics/overfitting.ts'
import {
  REPLICATIONS,
  snoopedHistories,
  type SnoopedHistories,
} from '../../broker/statistics/reality-check.ts'

/** The trials of a sweep. */
export interface LuckOf {
  readonly measured: Measured
  /** One row for each trial, in shared memory. */
  readonly rows: Float64Array
  readonly seed: number
}

interface Range {
  readonly from: number
  readonly to: number
}

export interface LuckPart {
  readonly pairs: Range
  readonly histories: Range
}

export interface LuckJob extends LuckOf {
  readonly part: LuckPart
}

export interface LuckFound {
  readonly pairs: Float64Array
  /** How many trials took part in the histories. */
  readonly snooped: number
  readonly histories: SnoopedHistories | null
}

/** With more trials the blocks are joined in pairs, which leaves 70 splits of 12,870. */
const SPLIT_TRIALS_MAX = 5000
/** With more trials the tests of data snooping would take minutes, so they take only those with the best scores. */
const SNOOPED_MAX = 4000
/** What a trial takes in a pair of splits, and a period of a trial in a history, in ns (`bun run bench sweeps`). */
const [PAIR_NS, PERIOD_NS] = [35, 1.5]
/** About as long as a part takes. Before it begins, it needs some 5 ms to read all rows. */
const PART_NS = 50_000_000

export function luckJob({ part: { pairs, histories }, ...of }: LuckJob): LuckFound {
  const found = histories.from < histories.to ? snooped(of) : []
  return {
    pairs: pairs.from < pairs.to ? judgedPairs(blockSums(of), pairs.from, pairs.to) : new Float64Array(0),
    snooped: found.length,
    histories: snoopedHistories(found, { seed: of.seed, q: 0.25 }, histories.from, histories.to),
  }
}

/** Parts that take about as long as each other; one where nobody could share them, or where there is too little to share. */
export function luckParts(of: LuckOf, isShared: boolean): LuckPart[] {
  const { trials, blocks, counts } = splitOf(of)
  const pairs = pairsOfSplits({ trials: trials.length, blocks, counts })
  const periods = Math.min(trials.length, SNOOPED_MAX) * of.measured.pieces
  const [pairsNs, historiesNs] = [pairs * trials.length * PAIR_NS, REPLICATIONS * periods * PERIOD_NS]
  if (!isShared || pairsNs + historiesNs < 2 * PART_NS)
    return [{ pairs: { from: 0, to: pairs }, histories: { from: 0, to: REPLICATIONS } }]
  return [
    ...cut(pairs, pairsNs).map((range) => ({ pairs: range, histories: NONE })),
    ...cut(REPLICATIONS, historiesNs).map((range) => ({ pairs: NONE, histories: range })),
  ]
}

const NONE: Range = { from: 0, to: 0 }

function cut(all: number, ns: number): Range[] {
  const parts = Math.max(1, Math.round(ns / PART_NS))
  return Array.from({ length: parts }, (_, part) => ({
    from: Math.floor((all * part) / parts),
    to: Math.floor((all * (part + 1)) / parts),
  }))
}

/** The trials that ran, by where their rows begin, and the blocks that are shared out to the splits. */
function splitOf({ rows, measured }: LuckOf) {
  const { width, sums } = rowLayout(measured)
  const trials: number[] = []
  for (let at = 0; at < rows.length; at += width) if (!Number.isNaN(rows[at + sums]!)) trials.push(at)
  const joined = trials.length > SPLIT_TRIALS_MAX && measured.blocks % 4 === 0 ? 2 : 1
  const blocks = measured.blocks / joined
  const { from, to } = measured.inside
  const bound = (block: number) => Math.floor((block * joined * (to - from)) / measured.blocks)
  const counts = Array.from({ length: blocks }, (_, block) => bound(block + 1) - bound(block))
  return { trials, joined, blocks, counts }
}

function blockSums(of: LuckOf): BlockSums {
  const { rows, measured } = of
  const { trials, joined, blocks, counts } = splitOf(of)
  const layout = rowLayout(measured)
  const column = (from: number) => {
    const into = new Float64Array(trials.length * blocks)
    for (const [trial, at] of trials.entries())
      for (let block = 0; block < measured.blocks; block++)
        into[trial * blocks + Math.floor(block / joined)]! += rows[at + from + block]!
    return into
  }
  return { trials: trials.length, blocks, sums: column(layout.sums), squares: column(layout.squares), counts }
}

/** The returns of the trials with the best scores. */
function snooped({ rows, measured }: LuckOf): Float64Array[] {
  const { width, score, pieces } = rowLayout(measured)
  return Array.from({ length: rows.length / width }, (_, trial) => ({
    score: rows[trial * width + score]!,
    trial,
  }))
    .filter(({ trial }) => !Number.isNaN(rows[trial * width + pieces]!))
    .sort((a, b) => (Number.isNaN(b.score) ? -1 : Number.isNaN(a.score) ? 1 : b.score - a.score))
    .slice(0, SNOOPED_MAX)
    .map(({ trial }) => rows.subarray(trial * width + pieces, trial * width + pieces + measured.pieces))
}
