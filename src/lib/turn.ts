// Turns of the event loop, shared out among all who have much to do on this thread.
//
// `setImmediate` alone gives everybody who waits the same turn: a hundred answers of 3 ms each are then 300 ms in which
// nobody else is heard. Here each turn is one waiter's, in the order they came, and between two of them whatever came
// over the network meanwhile is looked at.

/** The event loop is one a thread, and so is this list of those who wait for it. */
const waiting: (() => void)[] = []

/** Resolves in a turn that is nobody else's. What follows it until the next `await` should take a few milliseconds. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(next)
  })
}

function next(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(next)
}
