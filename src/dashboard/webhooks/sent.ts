// What the tabs of webhooks, channels and brokers have in common: how it went to send something.

export const SENT_TONES = {
  pending: 'accent',
  delivered: 'up',
  failed: 'down',
  cancelled: undefined,
  joined: undefined,
} as const

interface Attempt {
  /** Of HTTP; 0 = nothing answered. */
  readonly status: number
  readonly failure: string | null
}

export const answerOf = ({ status, failure }: Attempt): string =>
  status > 0 ? String(status) : (failure ?? 'no answer').replaceAll('_', ' ')
