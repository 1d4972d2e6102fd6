// Items of the Indicators menu: the examples, and the caller's own scripts, last changed first.

import { call } from '../api-client.ts'
import { newScript, openCopy, openScript } from '../editor/documents.ts'
import { SAMPLES } from '../editor/samples.ts'
import { navigate } from '../router.ts'
import { toastError } from '../ui/ui.tsx'
import { bottom } from '../workspace.ts'
import type { MenuItem } from './menu.tsx'

const OWN_SHOWN = 12

export async function indicatorItems(): Promise<readonly MenuItem[]> {
  const own = await call('GET /api/platform/scripts', {
    query: {
      feed: 'mine',
      limit: OWN_SHOWN,
    },
  }).catch(() => ({ scripts: [] }))
  return [
    ...own.scripts.map((one) => ({
      id: one.id,
      text: one.name,
      hint: one.kind,
      section: 'Yours',
      run: () => void openScript(one.id).catch(toastError),
    })),
    ...SAMPLES.map((sample) => ({
      id: sample.name,
      text: sample.name,
      hint: sample.kind,
      section: 'Examples',
      run: () => openCopy(sample.name, sample.source),
    })),
    {
      id: 'new',
      text: 'New script',
      icon: 'plus' as const,
      section: 'More',
      run: () => {
        newScript()
        bottom.value = 'script'
      },
    },
    {
      id: 'all',
      text: 'All scripts',
      icon: 'code' as const,
      section: 'More',
      run: () => navigate('/scripts'),
    },
  ]
}
