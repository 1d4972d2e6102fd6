// A turn of the event loop, which browsers have no `setImmediate` for.

export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve)
  })
}
