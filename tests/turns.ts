// Turns of the event loop, counted while something goes on: how a test sees that a thread was not held up.

export class TurnCounter implements Disposable {
  turns = 0
  #isOver = false

  constructor() {
    const count = () => {
      this.turns++
      if (!this.#isOver) setImmediate(count)
    }
    setImmediate(count)
  }

  [Symbol.dispose](): void {
    this.#isOver = true
  }
}
