// `chartroom licenses`: the licence texts of everything that is in the executable.

import { loadLicences } from '../server/assets.ts'
import { parseFlags, type Command } from './command.ts'

export const licensesCommand: Command = {
  name: 'licenses',
  usage: '',
  summary: 'Print the licences of all that is built in.',
  run: async ({ args, print }) => {
    parseFlags(args, {})
    print(new TextDecoder().decode(await loadLicences()).trimEnd())
    return 0
  },
}
