// The bound of a commission that somebody asks for. What a script itself says is taken as TradingView takes it.

/** Why it is too much; null = it is not. */
export function commissionRefusal(type: string, value: number): string | null {
  if (type !== 'percent' || value <= 100) return null
  return `A commission of ${value}% is more than the trade itself. Give 100 or less, or a commission_type of cash_per_contract or cash_per_order.`
}
