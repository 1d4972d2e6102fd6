// The pot: the money of one account that several strategies trade with, each on a market of its own (M1 to M7 in RULES.md).
//
// Each strategy keeps its own position, orders and trades. What they have in common is equity, which all of them earn and
// lose, and margin, which each binds with what it holds. An account that is alone in a pot finds nothing beside it: every sum
// is then the one that it has without a pot, to the last bit.

/** What an account shows to the other accounts of its pot. */
export interface PotMember {
  /** Profit of the closed trades. */
  readonly closedProfit: number
  /** The same, less what open trades have paid in commission. */
  readonly netProfit: number
  /** Profit of the open trades at this market's last price, before commission. */
  readonly openProfit: number
  /** Bound by what it holds, at that price. */
  readonly marginHeld: number
}

export class Pot {
  /** The first goes before the others wherever the money does not do for all. */
  readonly #members: PotMember[] = []
  /** What each has shown last: a member changes only in its own turn, and is asked in every turn of the others. */
  readonly #shown: Shown[] = []

  /** To be called in the order of their priority. */
  join(member: PotMember): void {
    this.#members.push(member)
    this.#shown.push({ closed: 0, profit: 0, margin: 0 })
  }

  get isShared(): boolean {
    return this.#members.length > 1
  }

  /** To be called when a member's turn is over: the others see what it has then. */
  show(member: PotMember): void {
    const shown = this.#shown[this.#members.indexOf(member)]!
    shown.closed = member.closedProfit
    shown.profit = member.netProfit + member.openProfit
    shown.margin = member.marginHeld
  }

  /** What the others have earned, open profit included. */
  profitBeside(member: PotMember): number {
    let profit = 0
    for (let i = 0; i < this.#shown.length; i++)
      if (this.#members[i] !== member) profit += this.#shown[i]!.profit
    return profit
  }

  closedProfitBeside(member: PotMember): number {
    let profit = 0
    for (let i = 0; i < this.#shown.length; i++)
      if (this.#members[i] !== member) profit += this.#shown[i]!.closed
    return profit
  }

  /** What the others hold cannot be bought with. */
  marginBeside(member: PotMember): number {
    let margin = 0
    for (let i = 0; i < this.#shown.length; i++)
      if (this.#members[i] !== member) margin += this.#shown[i]!.margin
    return margin
  }

  /** What those that go before it hold is not sold for it. */
  marginBefore(member: PotMember): number {
    let margin = 0
    for (let i = 0; this.#members[i] !== member; i++) margin += this.#shown[i]!.margin
    return margin
  }
}

interface Shown {
  closed: number
  /** Open profit too. */
  profit: number
  margin: number
}
