// Where the dashboard lives: '' at the root of its host, '/charts' behind a proxy that serves it under that path.
//
// The page's own address does not tell, since routes may have any depth; the address its scripts came from does.

export const base = new URL(import.meta.url).pathname.replace(
  /\/assets\/[^/]*$|\/src\/dashboard\/base\.ts$/,
  '',
)
