// The title that a script declares, and the name it has in the editor.

/** The title in the declaration, found by a simple pattern; only the server parses the script properly. */
export function titleOf(source: string): string {
  const declaration =
    /^[ \t]*(?:strategy|indicator|study|library)\s*\((?:[^)]*?\btitle\s*=\s*|\s*)(["'])((?:(?!\1)[^\\\n]|\\.){1,120})\1/m
  return declaration.exec(source)?.[2]?.replace(/\\(.)/g, '$1').trim() ?? ''
}

/** The script's name after its text has changed: it follows the declared title until the user gives it another name. */
export function renamed(name: string, before: string, after: string): string {
  const declared = titleOf(after)
  return declared !== '' && (name.trim() === '' || name === titleOf(before)) ? declared : name
}
