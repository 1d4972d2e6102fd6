// `import text from './bars.csv' with { type: 'text' }`: built into the executable.
declare module '*.csv' {
  const text: string
  export default text
}
declare module '*.pine' {
  const text: string
  export default text
}
