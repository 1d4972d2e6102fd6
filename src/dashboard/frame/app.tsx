// The frame around all pages, the routes, and the overlays that any page may show: palette, toasts, the tour.

import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { addCommands, commandOf, keysShown, listenForKeys, type Command } from '../commands.ts'
import { onLive } from '../live.ts'
import { match } from '../addresses.ts'
import { href, navigate, path } from '../router.ts'
import { loadSession, offline, signInAgain, unreachable, user } from '../session.ts'
import { theme, themeChoice, tourDone } from '../settings.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Logo } from '../ui/logo.tsx'
import { Dialogs } from '../ui/dialogs.tsx'
import { Button, Skeleton, Toasts, toast, toastError } from '../ui/ui.tsx'
import { alertAt, bottom, side, type Side } from '../workspace.ts'
import s from './frame.module.css'
import { lazy } from './lazy.tsx'
import { ago } from '../format.ts'
import { keysOpen, paletteOpen, typeAhead } from './overlays.ts'

const ChartPage = lazy(async () => (await import('./chart-page.tsx')).ChartPage)
const SignIn = lazy(async () => (await import('../account/sign-in.tsx')).SignIn)
const SignInAgain = lazy(async () => (await import('../account/sign-in-again.tsx')).SignInAgain)
const Palette = lazy(async () => (await import('./palette.tsx')).Palette)
const Keys = lazy(async () => (await import('../help/keys.tsx')).Keys)
const Tour = lazy(async () => (await import('../help/tour.tsx')).Tour)
const NotFound = lazy(async () => (await import('./not-found.tsx')).NotFound)
const Research = lazy(async () => (await import('../research/research.tsx')).Research)
const CompareRuns = lazy(async () => (await import('../backtests/compare-runs.tsx')).CompareRuns)
const SweepPage = lazy(async () => (await import('../sweeps/sweep-page.tsx')).SweepPage)
const PortfolioForm = lazy(async () => (await import('../portfolios/portfolio-form.tsx')).PortfolioForm)
const PortfolioPage = lazy(async () => (await import('../portfolios/portfolio-page.tsx')).PortfolioPage)
const ForwardPage = lazy(async () => (await import('../forward/forward-page.tsx')).ForwardPage)
const ScanPage = lazy(async () => (await import('../scans/scan-page.tsx')).ScanPage)
const Markets = lazy(async () => (await import('../markets/markets.tsx')).Markets)
const Alerts = lazy(async () => (await import('../alerts/alerts.tsx')).Alerts)
const AlertDialog = lazy(async () => (await import('../alerts/alert-dialog.tsx')).AlertDialog)
const WebhookPage = lazy(async () => (await import('../webhooks/webhooks.tsx')).WebhookPage)
const Tap = lazy(async () => (await import('../alerts/tap.tsx')).Tap)
const Ideas = lazy(async () => (await import('../ideas/ideas.tsx')).Ideas)
const Settings = lazy(async () => (await import('../account/settings.tsx')).Settings)
const Reference = lazy(async () => (await import('../reference/reference.tsx')).Reference)
const Help = lazy(async () => (await import('../help/help.tsx')).Help)

/** Path → page, the first that matches. A page gets the values in its path as props. */
const ROUTES = [
  ['/', ChartPage],
  ['/chart', ChartPage],
  ['/chart/:market/:interval', ChartPage],
  ['/research', Research],
  ['/research/compare', CompareRuns],
  ['/research/portfolios/new', PortfolioForm],
  ['/research/sweeps/:id', SweepPage],
  ['/research/scans/:id', ScanPage],
  ['/research/portfolios/:id', PortfolioPage],
  ['/research/forward/:id', ForwardPage],
  ['/research/:script', Research],
  ['/research/:script/:tab', Research],
  ['/markets', Markets],
  ['/markets/:group', Markets],
  ['/alerts', Alerts],
  ['/alerts/:tab', Alerts],
  ['/alerts/webhooks/:id', WebhookPage],
  ['/tap', Tap],
  ['/ideas', Ideas],
  ['/ideas/:id', Ideas],
  ['/settings', Settings],
  ['/sign-in', Settings],
  ['/settings/:section', Settings],
  ['/reference', Reference],
  ['/reference/:resource', Reference],
  ['/help', Help],
  ['/help/:article', Help],
] as const

const RAIL: readonly (readonly [to: string, text: string, icon: IconName])[] = [
  ['/', 'Chart', 'candles'],
  ['/research', 'Research', 'report'],
  ['/markets', 'Markets', 'list'],
  ['/alerts', 'Alerts', 'bell'],
  ['/ideas', 'Ideas', 'bulb'],
]

const RAIL_END: typeof RAIL = [
  ['/help', 'Help', 'help'],
  ['/settings', 'Settings', 'settings'],
]
const SIDE_BUTTONS: readonly (readonly [Side, string, IconName])[] = [
  ['watchlists', 'Watchlist', 'list'],
  ['alerts', 'Alerts', 'bell'],
  ['ideas', 'Ideas', 'bulb'],
]

const onChart = (): boolean => path.value === '/' || path.value.startsWith('/chart')

function Page() {
  const fits = ROUTES.find(([pattern]) => match(pattern, path.value))
  const [pattern, Component] = fits ?? ['', NotFound]
  // Each lazy component has props of its own, the values of its path, which one type cannot say.
  const Any = Component as ComponentType<object>
  const named: { readonly id?: string } = match(pattern, path.value) ?? {}
  // A page of another thing begins anew: what was loaded and chosen of one is not of the next.
  const page = <Any key={named.id} {...named} />
  if (Component === ChartPage) return page
  return (
    <main id="main" class={s.page} tabIndex={-1}>
      {page}
    </main>
  )
}

function RailLink({ to, text, icon }: { to: string; text: string; icon: IconName }) {
  const current = to === '/' ? onChart() : path.value.startsWith(to)
  return (
    <a class={s.railLink} href={href(to)} aria-label={text} aria-current={current ? 'page' : undefined}>
      <Icon name={icon} size={18} />
      <span aria-hidden="true">{text}</span>
    </a>
  )
}

/** Help and settings: at the foot of the rail, and on a phone on top, where its bar has the five places. */
const Foot = ({ class: place }: { readonly class: string | undefined }) => (
  <div class={place}>
    {RAIL_END.map(([to, text, icon]) => (
      <RailLink key={to} to={to} text={text} icon={icon} />
    ))}
  </div>
)

/** Fetches the palette before it is needed, so that it does not miss the first letter typed. */
const PALETTE_AFTER_MS = 1500

export function App() {
  useFrame()
  useTold(user.value?.id)
  if (user.value === undefined) return <Booting />
  if (user.value === null)
    return (
      <>
        {SHARED.test(path.value) ? <Visit /> : <SignIn />}
        <Toasts />
      </>
    )
  return (
    <div class={s.frame}>
      <a class={s.skip} href="#main">
        Skip to content
      </a>
      {onChart() && bottom.value !== '' && (
        <a class={s.skip} href="#drawer">
          Skip to the drawer
        </a>
      )}
      <Bar />
      <nav class={s.rail} aria-label="Main">
        {RAIL.map(([to, text, icon]) => (
          <RailLink key={to} to={to} text={text} icon={icon} />
        ))}
        <div class={s.railGap} />
        <Foot class={s.railEnd} />
      </nav>
      <div class={s.body}>
        <Page />
      </div>
      {/* Screen readers announce a status only if its element existed before it had content. */}
      <div class={s.connection} role="status">
        {unreachable.value && awayText()}
      </div>
      <Dialogs />
      {signInAgain.value && <SignInAgain />}
      {alertAt.value && <AlertDialog />}
      {paletteOpen.value && <Palette />}
      {keysOpen.value && <Keys />}
      {!tourDone.value && onChart() && <Tour />}
      <Toasts />
    </div>
  )
}

/** What works on every page, for as long as it is there: keys, commands, and what can wait. */
function useFrame(): void {
  useEffect(() => {
    listenForKeys()
    typeAhead()
    addCommands(commands)
    setTimeout(() => void import('./palette.tsx').catch(() => undefined), PALETTE_AFTER_MS)
    // Nobody needs it before there is something to see, and the first page is small.
    void import('./can-wait.ts').then(
      ({ startWhatCanWait }) => startWhatCanWait(),
      () => undefined,
    )
  }, [])
}

const goes = commandOf('Go to')
const commands: readonly Command[] = [
  goes('palette', 'Search everything', 'Mod+K', () => (paletteOpen.value = true)),
  ...[...RAIL, ...RAIL_END].map(([to, text]) => goes(`go:${to}`, text, '', () => navigate(to))),
  goes('keys', 'List of keys', '?', () => (keysOpen.value = true)),
]

/** Shows a toast on every page when an alert fires or a sweep is done. */
function useTold(userId: string | undefined): void {
  useEffect(() => {
    if (userId === undefined) return undefined
    const endings = [
      onLive('firing', (firing) => {
        import('../alerts/fired.ts').then(({ tellFired }) => tellFired(firing), toastError)
      }),
      onLive('sweep', ({ name, sentence }) => {
        if (sentence !== null && !path.peek().startsWith('/research')) toast(sentence, { detail: name })
      }),
    ]
    return () => endings.forEach((end) => end())
  }, [userId])
}

const Bar = () => (
  <header class={s.bar}>
    <a class={s.logo} href={href('/')} aria-label="Chartroom, to the chart">
      <Logo />
    </a>
    {/* The page on the stage puts its own controls here. */}
    <div class={s.barSlot} id="bar-slot" />
    <button
      type="button"
      class={s.search}
      onClick={() => (paletteOpen.value = true)}
      title="Search everything"
    >
      <Icon name="search" />
      <span>Search</span>
      <kbd aria-hidden="true">{keysShown('palette')}</kbd>
    </button>
    {onChart() && (
      <div class={s.sideButtons} role="group" aria-label="Side drawer">
        {SIDE_BUTTONS.map(([id, text, icon]) => (
          <Button
            key={id}
            variant="quiet"
            icon={icon}
            label={text}
            pressed={side.value === id}
            onClick={() => (side.value = side.value === id ? '' : id)}
          />
        ))}
      </div>
    )}
    <ThemeButton />
    <Foot class={s.phoneEnd} />
  </header>
)

function awayText(): string {
  const since = offline.since.value
  return since === null
    ? 'The server does not answer. Trying again…'
    : `Offline. You see what was here ${ago(since)}; what you draw is sent later.`
}

/** Pages that can be opened by a link, without an account. */
const SHARED = /^\/(tap|ideas\/[^/]+|research\/scr_[^/]+|reference(\/[^/]+)?)$/

const Visit = () => (
  <div class={s.visit}>
    <header class={s.bar}>
      <a class={s.logo} href={href('/')} aria-label="Chartroom">
        <Logo />
      </a>
      <span class={s.grow} />
      <ThemeButton />
      <a class={s.signIn} href={href('/sign-in')}>
        Sign in
      </a>
    </header>
    <Page />
  </div>
)

function ThemeButton() {
  const dark = theme.value === 'dark'
  return (
    <Button
      variant="quiet"
      class={s.theme ?? ''}
      icon={dark ? 'sun' : 'moon'}
      label={dark ? 'Light theme' : 'Dark theme'}
      onClick={() => (themeChoice.value = dark ? 'light' : 'dark')}
    />
  )
}

function Booting() {
  useEffect(() => {
    const again = setInterval(() => {
      if (user.value === undefined) void loadSession().catch(() => undefined)
    }, 3000)
    return () => clearInterval(again)
  }, [])
  return (
    <div class={s.frame} aria-busy="true" aria-label="Loading">
      <header class={s.bar}>
        <span class={s.logo}>
          <Logo />
        </span>
        <Skeleton width={180} />
      </header>
      <div class={s.rail} />
      <div class={s.body} />
    </div>
  )
}
