// Numbers as people read them.

/** `2,477.78` */
export const moneyText = (value: number) =>
  value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
