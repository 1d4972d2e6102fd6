// Addresses within the page: what a pattern finds in one, and where those of earlier versions lead.

/** `match('/research/sweeps/:id', path)` → { id } or null. */
export function match(pattern: string, actual: string): Readonly<Record<string, string>> | null {
  const wanted = pattern.split('/')
  const found = actual.split('/')
  if (wanted.length !== found.length) return null
  const values: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const value = decoded(found[i] ?? '')
    if (part.startsWith(':')) values[part.slice(1)] = value
    else if (part !== value) return null
  }
  return values
}

/** Of an address that somebody has cut within a letter, as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Old address → new one, the first that matches. They stand in mails, bookmarks and what others have written. */
export const MOVED: readonly (readonly [from: string, to: string])[] = [
  ['/backtests', '/research?kind=backtest'],
  ['/backtests/compare', '/research/compare'],
  ['/backtests/:id', '/?backtest=:id'],
  ['/sweeps', '/research?kind=sweep'],
  ['/sweeps/new', '/research/editor/optimise'],
  ['/sweeps/:id', '/research/sweeps/:id'],
  ['/scans', '/research?kind=scan'],
  ['/scans/new', '/research/editor/scan'],
  ['/scans/:id', '/research/scans/:id'],
  ['/portfolios', '/research?kind=portfolio'],
  ['/portfolios/new', '/research/portfolios/new'],
  ['/portfolios/:id', '/research/portfolios/:id'],
  ['/forward', '/research?kind=forward'],
  ['/forward/new', '/research/editor/forward'],
  ['/forward/:id', '/research/forward/:id'],
  ['/scripts', '/research'],
  ['/scripts/:id', '/research/:id'],
  ['/watchlists', '/markets'],
  ['/watchlists/:id', '/markets/:id'],
  ['/settings/bars', '/markets/sources'],
  ['/channels', '/alerts/channels'],
  ['/webhooks', '/alerts/webhooks'],
  ['/webhooks/:id', '/alerts/webhooks/:id'],
]

/** Where an address of an earlier version leads now, with its own query; null = it is none. */
export function movedTo(path: string, query = ''): string | null {
  for (const [from, to] of MOVED) {
    const values = match(from, path)
    if (!values) continue
    const there = to.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
    const own = query.replace(/^\?/, '')
    return own === '' ? there : `${there}${there.includes('?') ? '&' : '?'}${own}`
  }
  return null
}

/** The id of a command: one that led to a page of an earlier version leads to where it is now. */
export const commandNow = (id: string): string =>
  id.startsWith('go:') ? `go:${(movedTo(id.slice(3)) ?? id.slice(3)).split('?')[0]}` : id
