// Bun's bundler turns a CSS module into a map of class names (a default export: the bundler's choice, not ours).
declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>
  export { classes as default }
}

// The style sheet of a shadow root, as text.
declare module '*/code-editor.css' {
  const text: string
  export { text as default }
}

// A script, as text in the chunk that has it.
declare module '*.pine' {
  const text: string
  export { text as default }
}

declare module '*/style.css'

// What a macro has of Node, while the page is bundled.
declare module 'node:fs' {
  export function readdirSync(folder: URL): string[]
  export function readFileSync(file: URL, encoding: 'utf8'): string
}
