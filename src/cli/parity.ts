// `chartroom parity`: how exactly the engine reproduces TradingView's numbers, case by case.

import { existsSync } from 'node:fs'
import { parityCommand as measure } from '../tools/parity.ts'
import { onlyOf, parseArguments, UsageError, type Command } from './command.ts'

export const parityCommand: Command = {
  name: 'parity',
  usage: 'MANIFEST.json|DIR [--only A,B] [--jsonl]',
  summary: "Compare the engine with TradingView's own trade lists and values.",
  help: () =>
    [
      '  MANIFEST.json         Names scripts, bars and what is expected of them, case by case: trades as',
      '                        TradingView exports them, or values a bar. With empty lists nothing is shown,',
      '                        so they do not count',
      '  DIR                   Expected numbers: lists.json, micro.json, ta.json and other.json, or',
      '                        validation/NAME/{strategy.pine,tv_trades.csv} with data/*.csv',
      '  --only A,B            Only cases whose id begins so',
      '  --jsonl               One line of JSON a case',
    ].join('\n'),
  run: ({ args, print }) => {
    const { flags, positionals } = parseArguments(args, {
      only: { type: 'string' },
      jsonl: { type: 'boolean' },
    })
    const folder = onlyOf(positionals, 'manifest or folder')
    if (!existsSync(folder)) throw new UsageError(`There is no file or folder ${folder}.`)
    const exact = measure(
      [
        folder,
        ...(flags.only === undefined ? [] : ['--only', flags.only]),
        ...(flags.jsonl ? ['--jsonl'] : []),
      ],
      print,
    )
    return Promise.resolve(exact ? 0 : 1)
  },
}
