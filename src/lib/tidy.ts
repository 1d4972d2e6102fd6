/**
 * The number without binary noise: 23 ticks of 0.1 are 2.3000000000000003, which nobody wants to read or to send. Twelve digits
 * are more than any price or size has, and fewer than the noise reaches.
 */
export const tidy = (value: number): number => Number(value.toPrecision(12))
