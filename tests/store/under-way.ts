// Requests to stores outside of this process that have not been answered yet. Nothing else shows that a test has to wait for
// them: until an answer comes, this process has nothing to do.

let count = 0

export const isUnderWay = () => count > 0

/** Counts it until it ends. */
export async function underWay<T>(request: Promise<T>): Promise<T> {
  count++
  try {
    return await request
  } finally {
    count--
  }
}
