// The bars of the chart load first. Anything large that can wait a moment waits until they are drawn.

/** If there are no bars, or they do not come, nothing waits longer than this. */
const PATIENCE_MS = 1500

let tell: () => void = () => undefined

/** Resolves when the chart has drawn bars for the first time since the page was loaded. */
export const firstPaint = new Promise<void>((resolve) => {
  tell = resolve
  setTimeout(resolve, PATIENCE_MS)
})

/** Bars were handed to the canvas, so they are on the screen with the next frame. */
export function barsDrawn(): void {
  requestAnimationFrame(() => setTimeout(tell))
}
