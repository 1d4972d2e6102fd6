// Sums of decimals that are what one gets on paper: 0.1 and 0.2 are 0.3, however many of them there are.
//
// Doubles are added with Kahan's compensation, and the sum is rounded to the most decimals that any number had so far.

/** Numbers of more decimals than this are no decimals that somebody wrote; their sum stays as it is. */
const DECIMALS_MAX = 12
const POWERS = Float64Array.from({ length: DECIMALS_MAX + 1 }, (_, i) => 10 ** i)

export class DecimalSum {
  #sum = 0
  #lost = 0
  #decimals = 0

  /** Begins anew with one number. Its predecessors' decimals still count. */
  begin(value: number): void {
    this.#sum = this.#lost = 0
    this.add(value)
  }

  add(value: number): void {
    const more = value - this.#lost
    const sum = this.#sum + more
    this.#lost = sum - this.#sum - more
    this.#sum = sum
    while (this.#decimals <= DECIMALS_MAX && !hasDecimals(value, this.#decimals)) this.#decimals++
  }

  get value(): number {
    const power = POWERS[this.#decimals] ?? Infinity
    const units = Math.round(this.#sum * power)
    return Number.isSafeInteger(units) ? units / power : this.#sum
  }
}

/** Whether a number is a decimal of so many places, or too large to tell. */
function hasDecimals(value: number, decimals: number): boolean {
  const power = POWERS[decimals]!
  return Math.round(value * power) / power === value
}
