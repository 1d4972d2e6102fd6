// `import text from './bars.csv' with { type: 'text' }`: built into the executable.
declare module '*.csv' {
  const text: string
  export default text
}
declare module '*.sql' {
  const text: string
  export default text
}
declare module '*.pine' {
  const text: string
  export default text
}
// `import path from './glyphs.bin' with { type: 'file' }`: built in as well, and read by its path.
declare module '*.bin' {
  const path: string
  export default path
}
