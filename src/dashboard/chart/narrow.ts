// Whether the page is as narrow as a phone's, where one chart is shown at a time.

import { signal } from '@preact/signals'

const query = matchMedia('(max-width: 760px)')
export const narrow = signal(query.matches)
query.addEventListener('change', () => (narrow.value = query.matches))
