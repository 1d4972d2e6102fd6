// Dark or light: what was chosen, and what is shown for it.

export const THEME_CHOICES = ['system', 'dark', 'light'] as const
export type ThemeChoice = (typeof THEME_CHOICES)[number]
export type Theme = Exclude<ThemeChoice, 'system'>

export const SYSTEM_IS_LIGHT = '(prefers-color-scheme: light)'

/** The colour of the browser's own bars, `--surface` of the theme. */
const BAR = { dark: '#0f1216', light: '#ffffff' } as const

export const shownTheme = (choice: unknown, systemIsLight: boolean): Theme =>
  choice === 'dark' || choice === 'light' ? choice : systemIsLight ? 'light' : 'dark'

export function showTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme
  document.querySelector('meta[name="theme-color"]')?.setAttribute('content', BAR[theme])
}
