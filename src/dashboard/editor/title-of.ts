// What a script calls itself, and the name it goes by in the editor.

/** The title in the declaration, as far as a plain look finds it; the server reads it properly. */
export function titleOf(source: string): string {
  const declaration =
    /^[ \t]*(?:strategy|indicator|study|library)\s*\((?:[^)]*?\btitle\s*=\s*|\s*)(["'])((?:(?!\1)[^\\\n]|\\.){1,120})\1/m
  return declaration.exec(source)?.[2]?.replace(/\\(.)/g, '$1').trim() ?? ''
}

/** The script's name once its text has changed: a name that was the declaration's goes on being it, one given by hand stays. */
export function renamed(name: string, before: string, after: string): string {
  const declared = titleOf(after)
  return declared !== '' && (name.trim() === '' || name === titleOf(before)) ? declared : name
}
