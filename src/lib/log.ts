// What happened, as one JSON line each. Handed to whoever has something to say; only `main.ts` writes it to a stream.

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void

export const silentLog: Log = () => {}
