// The pot: the money of one account that several strategies trade with, each on a market of its own (M1 to M7 in RULES.md).
//
// Each strategy keeps its own position, orders and trades. What they have in common is equity, which all of them earn and
// lose, and margin, which each binds with what it holds. An account that is alone in a pot finds nothing beside it: every sum
// is then the one that it has without a pot, to the last bit.

/** What an account shows to the other accounts of its pot. */
export interface PotMember {
  /** Profit of the closed trades. */
  readonly netProfit: number
  /** Profit of the open trades at this market's last price. */
  readonly openProfit: number
  /** Bound by what it holds, at that price. */
  readonly marginHeld: number
}

export class Pot {
  /** The first goes before the others wherever the money does not do for all. */
  readonly #members: PotMember[] = []

  /** To be called in the order of their priority. */
  join(member: PotMember): void {
    this.#members.push(member)
  }

  get isShared(): boolean {
    return this.#members.length > 1
  }

  /** What the others have earned, open profit included. */
  profitBeside(member: PotMember): number {
    let profit = 0
    for (const other of this.#members) if (other !== member) profit += other.netProfit + other.openProfit
    return profit
  }

  closedProfitBeside(member: PotMember): number {
    let profit = 0
    for (const other of this.#members) if (other !== member) profit += other.netProfit
    return profit
  }

  /** What the others hold cannot be bought with. */
  marginBeside(member: PotMember): number {
    let margin = 0
    for (const other of this.#members) if (other !== member) margin += other.marginHeld
    return margin
  }

  /** What those that go before it hold is not sold for it. */
  marginBefore(member: PotMember): number {
    let margin = 0
    for (const other of this.#members) {
      if (other === member) break
      margin += other.marginHeld
    }
    return margin
  }
}
