// Bun's bundler turns a CSS module into a map of class names.
declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>
  export { classes as default }
}
