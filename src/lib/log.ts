// The log: one JSON line an event. Rooms are handed the function; where its lines go is the caller's business.

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void

export const silentLog: Log = () => {}
