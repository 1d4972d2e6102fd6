// The title that a script declares, and the name it has in the editor.

/** The title in the declaration, found by a simple pattern; only the server parses the script properly. */
export function titleOf(source: string): string {
  const declaration =
    /^[ \t]*(?:strategy|indicator|study|library)\s*\((?:[^)]*?\btitle\s*=\s*|\s*)(["'])((?:(?!\1)[^\\\n]|\\.){1,120})\1/m
  return declaration.exec(source)?.[2]?.replace(/\\(.)/g, '$1').trim() ?? ''
}

/**
 * Answers the script's name after its text has changed: it follows the declared title until the user gives it another name.
 * While no title is declared, as before another text is pasted into an emptied editor, the last one counts.
 */
export function nameFollower(): (name: string, before: string, after: string) => string {
  let last = ''
  return (name, before, after) => {
    last = titleOf(before) || last
    const declared = titleOf(after)
    return declared !== '' && (name.trim() === '' || name === last) ? declared : name
  }
}
