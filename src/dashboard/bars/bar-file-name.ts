// Reads exchange, symbol and interval from the name of a file of bars.

import type { Market } from '../workspace.ts'

/**
 * `BINANCE_BTCUSDT, 60.csv` (TradingView), `BTCUSDT-1h-2024-01.csv` (Binance), `NASDAQ_AAPL_1D.csv`; '' for parts that the
 * name does not tell.
 */
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

/** Converts TradingView's spelling of an interval into ours. */
function intervalOf(text: string): string {
  if (/^\d+$/.test(text)) {
    const minutes = Number(text)
    return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`
  }
  const [, count = '', unit = ''] = /^(\d*)([A-Za-z])$/.exec(text) ?? []
  if (unit === '') return '1d'
  return `${count || '1'}${unit === 'M' ? 'M' : unit.toLowerCase()}`
}
