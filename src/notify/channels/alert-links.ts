// Links in messages that do one thing without a sign-in: pause the alert that the message is of, or say that somebody has
// seen it. Everybody who has the link may do that, and nothing else, until it expires.
//
// A link leads to a page with one button. Programs that fetch every address of a message, for a preview or in search of
// viruses, get that page and change nothing. Its token stands behind a `#`, which browsers send to nobody, so that no log
// of a proxy has it.

import type { Clock } from '../../lib/clock.ts'
import { Problem } from '../../lib/problem.ts'
import type { SecretBox } from '../webhooks/secret-box.ts'
import type { LinkAction } from '../../wire/link.ts'

export interface AlertLink {
  readonly action: LinkAction
  readonly alertId: string
  readonly firingId: string
  /** UTC ms. */
  readonly until: number
}

export interface LinkDeps {
  readonly clock: Clock
  readonly box: SecretBox
  /** Where browsers reach the server; null = not known. */
  readonly publicUrl: string | null
}

/** The page that a link opens. */
const PAGE = '/tap'
/** How long after the alert fired. */
const VALID_MS = 7 * 24 * 3_600_000
const BOUND_TO = 'alert-link'
/** Longer texts are none of ours. */
const TOKEN_MAX = 1000

/** The `#` as it is, and as services escape it where they repeat a message in HTML, JSON or an address. */
const LINK = /(\/|%2f|\\u002f|&#x2f;|&#47;)tap(#|%23|\\u0023|&#x23;|&#35;)[\w-]+/gi

/** What a service answered, without the links that its answer repeats: whoever reads a log could follow them. */
export const withoutLinks = (text: string): string => text.replace(LINK, '$1tap$2…')

export type AlertLinks = ReturnType<typeof createAlertLinks>

export function createAlertLinks({ clock, box, publicUrl }: LinkDeps) {
  return {
    async token(action: LinkAction, alertId: string, firingId: string, firedAt: number): Promise<string> {
      const text = [action, alertId, firingId, firedAt + VALID_MS].join(' ')
      return Buffer.from(await box.seal(text, BOUND_TO)).toString('base64url')
    },
    /** The address of the page; null if the server does not know its own. */
    url: (token: string): string | null => publicUrl && `${publicUrl}${PAGE}#${token}`,
    /** Throws Problem 404 `link_not_found` and 410 `link_expired`. */
    async read(token: string): Promise<AlertLink> {
      const sealed = token.length > TOKEN_MAX ? '' : Buffer.from(token, 'base64url').toString()
      const text = await box.open(sealed, BOUND_TO).catch(() => '')
      const [, action, alertId = '', firingId = '', until] =
        /^(pause|acknowledge) (al_\w+) (fir_\w+) (\d+)$/.exec(text) ?? []
      if (action === undefined)
        throw new Problem(
          404,
          'link_not_found',
          'This link is none of this server’s. Perhaps a part is missing.',
        )
      if (Number(until) < clock.now())
        throw new Problem(410, 'link_expired', 'This link has expired. Sign in to change the alert.')
      return { action: action as LinkAction, alertId, firingId, until: Number(until) }
    },
  }
}
