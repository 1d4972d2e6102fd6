// `import text from './bars.csv' with { type: 'text' }`: built into the executable.
declare module '*.csv' {
  const text: string
  export default text
}
