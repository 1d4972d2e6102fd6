// Bun's bundler turns a CSS module into a map of class names (a default export: the bundler's choice, not ours).
declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>
  export { classes as default }
}

// A sample script, as text in the chunk that shows the gallery.
declare module '*.pine' {
  const text: string
  export { text as default }
}

declare module '*/style.css'
