// Posts uncaught errors to /api/errors: each message at most once a minute, and never the failure of such a post.

import { apiUrl } from './api-client.ts'

const recently = new Map<string, number>()

function send(message: string, stack: string | undefined, kind: string): void {
  const now = Date.now()
  if (now - (recently.get(message) ?? 0) < 60_000) return
  recently.set(message, now)
  if (recently.size > 50) recently.clear()
  const body = JSON.stringify({ message, stack, kind, url: location.href, userAgent: navigator.userAgent })
  void fetch(apiUrl('/api/errors'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: body.slice(0, 30_000),
    keepalive: true,
  }).catch(() => undefined)
}

export function listenForErrors(): void {
  window.addEventListener('error', (event) => {
    send(event.message, (event.error as Error | null)?.stack, 'error')
  })
  window.addEventListener('unhandledrejection', (event) => {
    const reason: unknown = event.reason
    if (reason instanceof DOMException && reason.name === 'AbortError') return
    if (reason instanceof Error) send(reason.message, reason.stack, 'unhandledrejection')
    else send(String(reason), undefined, 'unhandledrejection')
  })
}
