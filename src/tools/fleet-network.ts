// Preloaded by the servers of `bun run fleet-test`: what they would ask Binance they ask the exchange of the test.

const exchange = process.env['FLEET_EXCHANGE']

if (exchange !== undefined) {
  const redirected = (address: string | URL) =>
    String(address)
      .replace(/^https:\/\/api\.binance\.com/, exchange)
      .replace(/^wss:\/\/data-stream\.binance\.vision/, exchange.replace('http', 'ws'))
  const { fetch: asked, WebSocket: Opened } = globalThis
  globalThis.fetch = Object.assign(
    (address: string | URL | Request, init?: RequestInit) =>
      asked(address instanceof Request ? address : redirected(address), init),
    asked,
  )
  globalThis.WebSocket = class extends Opened {
    constructor(address: string | URL) {
      super(redirected(address))
    }
  }
}
