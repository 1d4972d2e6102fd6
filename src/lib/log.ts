// The log: each event is one line of JSON. Rooms are handed the function; the caller decides where its lines go.

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void

export const silentLog: Log = () => {}
