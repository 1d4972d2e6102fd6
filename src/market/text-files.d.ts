/** `import path from './glyphs.bin' with { type: 'file' }`: the same, by the path under which it can be read. */
declare module '*.bin' {
  const path: string
  export default path
}
// `import text from './bars.csv' with { type: 'text' }`: built into the executable.
declare module '*.csv' {
  const text: string
  export default text
}
declare module '*.pine' {
  const text: string
  export default text
}
