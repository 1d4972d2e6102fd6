// The frame around all pages, the routes, and the overlays that any page may show: palette, toasts, the tour.

import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { addCommands, keysShown, listenForKeys } from '../commands.ts'
import { onLive } from '../live.ts'
import { href, match, navigate, path } from '../router.ts'
import { loadSession, offline, signInAgain, unreachable, user } from '../session.ts'
import { theme, themeChoice, tourDone } from '../settings.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Logo } from '../ui/logo.tsx'
import { Menu } from '../ui/menu.tsx'
import { Button, Skeleton, Toasts, toast, toastError } from '../ui/ui.tsx'
import { side, type Side } from '../workspace.ts'
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
const Backtests = lazy(async () => (await import('../backtests/backtests.tsx')).Backtests)
const CompareRuns = lazy(async () => (await import('../backtests/compare-runs.tsx')).CompareRuns)
const SweepList = lazy(async () => (await import('../sweeps/sweeps.tsx')).SweepList)
const SweepPage = lazy(async () => (await import('../sweeps/sweep-page.tsx')).SweepPage)
const Optimise = lazy(async () => (await import('../sweeps/optimise.tsx')).Optimise)
const PortfolioList = lazy(async () => (await import('../portfolios/portfolios.tsx')).PortfolioList)
const PortfolioForm = lazy(async () => (await import('../portfolios/portfolio-form.tsx')).PortfolioForm)
const PortfolioPage = lazy(async () => (await import('../portfolios/portfolio-page.tsx')).PortfolioPage)
const ForwardList = lazy(async () => (await import('../forward/forward-list.tsx')).ForwardList)
const ForwardForm = lazy(async () => (await import('../forward/forward-form.tsx')).ForwardForm)
const ForwardPage = lazy(async () => (await import('../forward/forward-page.tsx')).ForwardPage)
const ScanList = lazy(async () => (await import('../scans/scans.tsx')).ScanList)
const ScanForm = lazy(async () => (await import('../scans/scan-form.tsx')).ScanForm)
const ScanPage = lazy(async () => (await import('../scans/scan-page.tsx')).ScanPage)
const Scripts = lazy(async () => (await import('../scripts/scripts.tsx')).Scripts)
const ScriptPage = lazy(async () => (await import('../scripts/script-page.tsx')).ScriptPage)
const Ideas = lazy(async () => (await import('../ideas/ideas.tsx')).Ideas)
const Watchlists = lazy(async () => (await import('../watchlists/watchlists.tsx')).Watchlists)
const Alerts = lazy(async () => (await import('../alerts/alerts.tsx')).Alerts)
const Tap = lazy(async () => (await import('../alerts/tap.tsx')).Tap)
const Channels = lazy(async () => (await import('../channels/channels.tsx')).Channels)
const Webhooks = lazy(async () => (await import('../webhooks/webhooks.tsx')).Webhooks)
const Settings = lazy(async () => (await import('../account/settings.tsx')).Settings)
const Reference = lazy(async () => (await import('../reference/reference.tsx')).Reference)
const Help = lazy(async () => (await import('../help/help.tsx')).Help)

/** Path → page, the first that matches. A page gets the values in its path as props. */
const ROUTES = [
  ['/', ChartPage],
  ['/chart', ChartPage],
  ['/chart/:market/:interval', ChartPage],
  ['/backtests', Backtests],
  ['/backtests/compare', CompareRuns],
  ['/backtests/:id', Backtests],
  ['/sweeps', SweepList],
  ['/sweeps/new', Optimise],
  ['/sweeps/:id', SweepPage],
  ['/portfolios', PortfolioList],
  ['/portfolios/new', PortfolioForm],
  ['/portfolios/:id', PortfolioPage],
  ['/forward', ForwardList],
  ['/forward/new', ForwardForm],
  ['/forward/:id', ForwardPage],
  ['/scans', ScanList],
  ['/scans/new', ScanForm],
  ['/scans/:id', ScanPage],
  ['/scripts', Scripts],
  ['/scripts/:id', ScriptPage],
  ['/ideas', Ideas],
  ['/ideas/:id', Ideas],
  ['/watchlists', Watchlists],
  ['/watchlists/:id', Watchlists],
  ['/alerts', Alerts],
  ['/alerts/:id', Alerts],
  ['/tap', Tap],
  ['/channels', Channels],
  ['/webhooks', Webhooks],
  ['/webhooks/:id', Webhooks],
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
  ['/backtests', 'Backtests', 'report'],
  ['/sweeps', 'Sweeps', 'tune'],
  ['/portfolios', 'Portfolios', 'layers'],
  ['/forward', 'Forward runs', 'play'],
  ['/scans', 'Scans', 'search'],
  ['/scripts', 'Scripts', 'code'],
  ['/watchlists', 'Watchlists', 'list'],
  ['/alerts', 'Alerts', 'bell'],
  ['/ideas', 'Ideas', 'bulb'],
  ['/webhooks', 'Webhooks', 'webhook'],
]

const RAIL_END: typeof RAIL = [
  ['/help', 'Help', 'help'],
  ['/settings', 'Settings', 'settings'],
]
/** On a phone the bar has room for these and a menu of the others. */
const ON_PHONE: ReadonlySet<string> = new Set(['/', '/backtests', '/scripts', '/alerts'])

const SIDE_BUTTONS: readonly (readonly [Side, string, IconName])[] = [
  ['watchlists', 'Watchlist', 'list'],
  ['alerts', 'Alerts', 'bell'],
  ['ideas', 'Ideas', 'bulb'],
]

const onChart = (): boolean => path.value === '/' || path.value.startsWith('/chart')

function Page() {
  for (const [pattern, Component] of ROUTES) {
    const values = match(pattern, path.value)
    // Each lazy component has props of its own, the values of its path, which one type cannot say.
    const Any = Component as ComponentType<object>
    if (values)
      return Component === ChartPage ? (
        <Any {...values} />
      ) : (
        <main id="main" class={s.page} tabIndex={-1}>
          <Any {...values} />
        </main>
      )
  }
  return (
    <main id="main" class={s.page} tabIndex={-1}>
      <NotFound />
    </main>
  )
}

function RailLink({
  to,
  text,
  icon,
}: {
  readonly to: string
  readonly text: string
  readonly icon: IconName
}) {
  const current = to === '/' ? onChart() : path.value.startsWith(to)
  return (
    <a
      class={s.railLink}
      data-phone={ON_PHONE.has(to)}
      href={href(to)}
      aria-label={text}
      aria-current={current ? 'page' : undefined}
    >
      <Icon name={icon} size={18} />
      {/* One word is as wide as the rail. */}
      <span aria-hidden="true">{text.split(' ')[0]}</span>
    </a>
  )
}

/** Fetches the palette before it is needed, so that it does not miss the first letter typed. */
const PALETTE_AFTER_MS = 1500

export function App() {
  useEffect(() => {
    const timer = setTimeout(() => void import('./palette.tsx').catch(() => undefined), PALETTE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  useEffect(listenForKeys, [])
  useEffect(typeAhead, [])
  useEffect(
    () =>
      addCommands([
        {
          id: 'palette',
          title: 'Search everything',
          section: 'Go to',
          keys: 'Mod+K',
          run: () => (paletteOpen.value = true),
        },
        ...[...RAIL, ...RAIL_END].map(([to, text]) => ({
          id: `go:${to}`,
          title: text,
          section: 'Go to' as const,
          run: () => navigate(to),
        })),
        {
          id: 'keys',
          title: 'List of keys',
          section: 'Go to',
          keys: '?',
          run: () => (keysOpen.value = true),
        },
      ]),
    [],
  )
  useEffect(() => {
    // Nobody needs them before there is something to see, and the first page is small.
    void import('./more-commands.ts').then(
      ({ MORE }) => addCommands(MORE),
      () => undefined,
    )
  }, [])

  // Shows a toast on every page when an alert fires or a sweep is done.
  const userId = user.value?.id
  useEffect(() => {
    if (userId === undefined) return undefined
    const endings = [
      onLive('firing', (firing) => {
        import('../alerts/fired.ts').then(({ tellFired }) => tellFired(firing), toastError)
      }),
      onLive('sweep', ({ name, sentence }) => {
        if (sentence !== null && !path.peek().startsWith('/sweeps')) toast(sentence, { detail: name })
      }),
    ]
    return () => {
      for (const end of endings) end()
    }
  }, [userId])

  useEffect(
    () =>
      offline.newer.subscribe((newer) => {
        if (newer)
          toast('A new version of Chartroom is here.', {
            action: { text: 'Reload', run: () => location.reload() },
          })
      }),
    [],
  )

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
      </header>
      <nav class={s.rail} aria-label="Main">
        {RAIL.map(([to, text, icon]) => (
          <RailLink key={to} to={to} text={text} icon={icon} />
        ))}
        <div class={s.railGap} />
        {RAIL_END.map(([to, text, icon]) => (
          <RailLink key={to} to={to} text={text} icon={icon} />
        ))}
        <div class={s.railMore}>
          <Menu
            label="More pages"
            items={[...RAIL, ...RAIL_END]
              .filter(([to]) => !ON_PHONE.has(to))
              .map(([to, text, icon]) => ({ text, icon, run: () => navigate(to) }))}
          >
            <span>More</span>
          </Menu>
        </div>
      </nav>
      <div class={s.body}>
        <Page />
      </div>
      {/* Screen readers announce a status only if its element existed before it had content. */}
      <div class={s.connection} role="status">
        {unreachable.value && awayText()}
      </div>
      {signInAgain.value && <SignInAgain />}
      {paletteOpen.value && <Palette />}
      {keysOpen.value && <Keys />}
      {!tourDone.value && onChart() && <Tour />}
      <Toasts />
    </div>
  )
}

function awayText(): string {
  const since = offline.since.value
  return since === null
    ? 'The server does not answer. Trying again…'
    : `Offline. You see what was here ${ago(since)}; what you draw is sent later.`
}

/** Pages that can be opened by a link, without an account. */
const SHARED = /^\/(tap|ideas\/[^/]+|scripts\/[^/]+|reference(\/[^/]+)?)$/

function Visit() {
  return (
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
}

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
