// What of the shown report was asked for from elsewhere: whether it sees the future, and a link to it.

import { signal } from '@preact/signals'

export const doubted = signal(false)
export const sharing = signal(false)
