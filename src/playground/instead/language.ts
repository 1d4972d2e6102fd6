// What the editor knows of the language. It is in the engine's text, which the page runs when the editor first asks.

type Language = Pick<typeof import('../../language/editor.ts'), 'completions' | 'signatureHelp'> &
  typeof import('../../language/references.ts')

function language(): Language {
  const scope = globalThis as { chartroomLanguage?: Language }
  const Run = Function as unknown as new (text: string) => () => void
  if (!scope.chartroomLanguage) new Run(document.getElementById('engine')?.textContent ?? '')()
  return scope.chartroomLanguage!
}

export const completions: Language['completions'] = (...args) => language().completions(...args)
export const signatureHelp: Language['signatureHelp'] = (...args) => language().signatureHelp(...args)
export const referencesAt: Language['referencesAt'] = (...args) => language().referencesAt(...args)
