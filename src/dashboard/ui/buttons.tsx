// What can be done as buttons side by side, said as in a menu.

import { apiUrl } from '../api-client.ts'
import { askFirst } from '../frame/page.tsx'
import { item, type MenuItem, type MenuItems } from './menu.tsx'
import { Button } from './ui.tsx'

/** `look`: in rows and beside text they are small. */
export const buttons = (acts: MenuItems, look: 'small' | 'quiet' | 'small quiet' | '' = '') =>
  acts.map(
    (act, i) =>
      act &&
      act !== '-' && (
        <Button
          key={i}
          {...(look.includes('small') && { size: 'small' })}
          {...(look.includes('quiet') && { variant: 'quiet' })}
          {...(act.primary && { variant: 'primary' })}
          {...(act.danger && { variant: 'danger' })}
          {...(act.icon && { icon: act.icon })}
          {...(act.on !== undefined && { pressed: act.on })}
          title={act.note}
          aria-label={act.label}
          disabled={act.disabled ?? false}
          onClick={act.run}
        >
          {act.text}
        </Button>
      ),
  )

/** What fetches a file of the server. */
export const downloadItem = (text: string, path: string, query?: Parameters<typeof apiUrl>[1]): MenuItem =>
  item(text, 'download', () => location.assign(apiUrl(path, query)))

/** The last of a menu: it asks before it deletes. */
export const deletion = (of: Parameters<typeof askFirst>[0]): MenuItem =>
  item('Delete', 'trash', () => askFirst(of), { danger: true })
