// The page has no other files.

export const base = ''
