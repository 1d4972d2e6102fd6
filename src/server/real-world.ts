// The world as it is: what a server that `chartroom serve` starts has around it.

import { availableParallelism, totalmem } from 'node:os'
import { createSend } from '../notify/webhooks/send.ts'
import { argon2Passwords } from '../people/accounts/passwords.ts'
import { threadMs } from '../work/workers/thread-time.ts'
import { resolve } from './guarded-net.ts'
import { httpRequest, openSocket } from './providers-net.ts'
import type { World } from './world.ts'

type Given = Pick<
  World,
  'environment' | 'version' | 'clock' | 'random' | 'spawnWorker' | 'spawnSearch' | 'print' | 'warn'
>

export const realWorld = (given: Given): World => ({
  ...given,
  steady: { now: () => performance.now(), sleep: given.clock.sleep },
  passwords: argon2Passwords(),
  network: {
    resolve,
    send: createSend(),
    http: httpRequest,
    openSocket,
    async mail(url, sender) {
      // Loaded only where mail is set up, since loading it takes a tenth of the time to start.
      const { smtpTransport } = await import('../notify/mail/smtp.ts')
      return smtpTransport(url, sender)
    },
  },
  machine: {
    processors: availableParallelism(),
    threadMs,
    memory: () => process.memoryUsage.rss(),
    memoryMax: Math.min(totalmem(), process.constrainedMemory() || Infinity),
  },
  stopAsked,
  exit: async (code) => process.exit(code),
})

/** A second signal is not waited for. */
function stopAsked(stopping: AbortController): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const)
      process.on(name, () => {
        if (stopping.signal.aborted) process.exit(1)
        stopping.abort()
        resolve(name)
      })
  })
}
