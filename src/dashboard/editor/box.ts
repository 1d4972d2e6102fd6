// Elements of the editor's tooltips, which are not made by Preact.

export function box(name: string, ...content: readonly (string | Node)[]): HTMLElement {
  const made = document.createElement('div')
  made.className = name
  made.append(...content)
  return made
}
