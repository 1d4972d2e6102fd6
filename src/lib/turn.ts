// Giving others their turn in the middle of long work on one thread.

/** Resolves once whatever else was ready has run: requests that came meanwhile, and answers of the disk. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
