// The playground is one page, whose address says nothing but what is shared behind its `#`.

import { signal } from '@preact/signals'

/** No earlier version had other addresses. */
export const commandNow = (id: string): string => id
export const href = (to: string): string => to
export const path = signal('/')
export const query = signal(new URLSearchParams())
export const navigate = (): void => undefined
