// `chartroom licenses`: the licence texts of everything that is in the executable.

import { assert } from '../lib/assert.ts'
import { loadDocsFile } from '../server/assets.ts'
import { LICENSES_FILE } from '../tools/licenses.ts'
import { parseFlags, type Command } from './command.ts'

export const licensesCommand: Command = {
  name: 'licenses',
  usage: '',
  summary: 'Print the licences of all that is built in.',
  run: async ({ args, print }) => {
    parseFlags({ args: [...args], options: {}, strict: true })
    const text = await loadDocsFile(LICENSES_FILE)
    assert(text !== null, 'the licences are built in')
    print(new TextDecoder().decode(text).trimEnd())
    return 0
  },
}
