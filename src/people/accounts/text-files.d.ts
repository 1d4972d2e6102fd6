// `import text from './list.txt' with { type: 'text' }`: built into the executable.
declare module '*.txt' {
  const text: string
  export default text
}
declare module '*.py' {
  const text: string
  export default text
}
