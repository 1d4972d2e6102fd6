// What the eye waits for comes first: the bars of the chart. What is large and can wait a moment waits until they are drawn.

/** Where there are no bars, or they do not come, nothing waits for longer. */
const PATIENCE_MS = 1500

let tell: () => void = () => undefined

/** Resolves when the chart has drawn bars for the first time since the page was loaded. */
export const firstPaint = new Promise<void>((resolve) => {
  tell = resolve
  setTimeout(resolve, PATIENCE_MS)
})

/** Bars were handed to the canvas; they are on the screen with the next frame. */
export function barsDrawn(): void {
  requestAnimationFrame(() => setTimeout(tell))
}
