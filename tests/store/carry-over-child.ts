// Carries a database over and is killed at the step whose number it is given. Started by `carry-over.test.ts`.

import { carryOver } from '../../src/store/carry-over.ts'

const [folder = '', fatal = ''] = process.argv.slice(2)
let count = 0
await carryOver(folder, {
  step: () => {
    if (String(count++) === fatal) process.kill(process.pid, 'SIGKILL')
  },
})
console.log(count)
