// jstat brings no types; these are what we use of it.
declare module 'jstat' {
  export const jStat: {
    readonly normal: {
      cdf(x: number, mean: number, deviation: number): number
      inv(p: number, mean: number, deviation: number): number
    }
  }
}
