// What a file of bars says of itself in its name, and sending it with progress.

import { ApiError, apiUrl } from '../api-client.ts'
import type { Market } from '../workspace.ts'

/** `BINANCE_BTCUSDT, 60.csv` (TradingView), `BTCUSDT-1h-2024-01.csv` (Binance), `NASDAQ_AAPL_1D.csv`; '' where it does not say. */
export function marketOfFile(name: string): Market {
  const stem = name.replace(/\.(csv|txt|json)$/i, '')
  const tradingView = /^([A-Z0-9]+)_([A-Z0-9.!&-]+)[,_ ]+\s*(\d*[SHDWM]?)(?:[_ (].*)?$/i.exec(stem)
  if (tradingView) {
    const [, exchange = '', symbol = '', interval = ''] = tradingView
    return { exchange: exchange.toUpperCase(), symbol: symbol.toUpperCase(), interval: intervalOf(interval) }
  }
  const binance = /^([A-Z0-9]+)-(\d+[smhdw]|1mo)-\d{4}-\d{2}/i.exec(stem)
  if (binance) {
    const [, symbol = '', interval = ''] = binance
    return {
      exchange: 'BINANCE',
      symbol: symbol.toUpperCase(),
      interval: interval === '1mo' ? '1M' : interval,
    }
  }
  const plain = /^([A-Z0-9.]+)[-_ ]+(\d+[smhdwM]|[DWM])$/i.exec(stem)
  if (plain)
    return { exchange: '', symbol: (plain[1] ?? '').toUpperCase(), interval: intervalOf(plain[2] ?? '') }
  return {
    exchange: '',
    symbol: stem
      .replace(/[^A-Za-z0-9.]/g, '')
      .slice(0, 30)
      .toUpperCase(),
    interval: '1d',
  }
}

/** TradingView's spellings as ours. */
function intervalOf(text: string): string {
  if (/^\d+$/.test(text)) {
    const minutes = Number(text)
    return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`
  }
  const [, count = '', unit = ''] = /^(\d*)([A-Za-z])$/.exec(text) ?? []
  if (unit === '') return '1d'
  return `${count || '1'}${unit === 'M' ? 'M' : unit.toLowerCase()}`
}

export interface Imported {
  readonly rows: number
  readonly inserted: number
  readonly updated: number
}

/** fetch cannot tell how much has been sent; XMLHttpRequest can. */
export function importBarsFile(
  file: File,
  market: Market,
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
): Promise<Imported> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', apiUrl('/api/platform/bars/import', { ...market }))
    request.setRequestHeader('content-type', /\.json$/i.test(file.name) ? 'application/json' : 'text/csv')
    request.responseType = 'json'
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total)
    request.onload = () => {
      const answer = request.response as (Imported & { error?: object }) | null
      if (request.status === 200 && answer) resolve(answer)
      else reject(new ApiError(request.status, answer?.error ?? {}))
    }
    request.onerror = () =>
      reject(
        new ApiError(0, {
          code: 'offline',
          message: 'Chartroom cannot be reached. Is the server still running?',
        }),
      )
    request.onabort = () => reject(new DOMException('Given up', 'AbortError'))
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
}
