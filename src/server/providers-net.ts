// The network as providers of bars are spoken to: requests, and connections that stay open.

import type { OpenSocket } from '../market/live/connection.ts'
import type { Http } from '../market/providers/provider.ts'

export const httpRequest: Http = (url, signal, body, headers) =>
  fetch(url, {
    redirect: 'error',
    ...(signal && { signal }),
    ...(body !== undefined && { method: 'POST', body }),
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
  })

export const openSocket: OpenSocket = (address, events) => {
  const socket = new WebSocket(address)
  socket.onopen = () => events.opened()
  socket.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (typeof data === 'string') events.text(data)
  }
  socket.onerror = () => events.closed('the connection failed')
  socket.onclose = ({ code, reason }) =>
    events.closed(reason === '' ? `closed by the other side (${code})` : `closed: ${reason} (${code})`)
  return {
    send(text) {
      if (socket.readyState === WebSocket.OPEN) socket.send(text)
    },
    close: () => socket.close(),
  }
}
