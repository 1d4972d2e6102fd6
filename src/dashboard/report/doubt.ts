// Whether the dialog is open that says where the run on the chart sees the future.

import { signal } from '@preact/signals'

export const doubted = signal(false)
