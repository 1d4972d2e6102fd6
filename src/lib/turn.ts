// Turns of the event loop, shared among all who have much to do on this thread.
//
// `setImmediate` alone gives everybody who waits the same turn: a hundred answers of 3 ms each then take 300 ms in
// which nobody else is heard. Here each turn belongs to one waiter, in order of arrival, and between two turns the
// loop handles whatever came over the network.

/** A thread has one event loop, and therefore one list of those who wait for it. */
const waiting: (() => void)[] = []

/** Resolves in a turn that nobody else has. The work up to the next `await` should take a few milliseconds. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(next)
  })
}

/** Whether somebody waits for a turn: then the loop is not done with what it has to do. */
export const isTurnWanted = (): boolean => waiting.length > 0

function next(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(next)
}
