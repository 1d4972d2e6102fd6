// Hands a stored report and its tracks to a worker part by part, since they may take a hundred megabytes.

import type { StoredHost, StoredText, Desk } from './desk.ts'

/** The worker's side: the value of the JSON text. */
export async function storedValue(host: Pick<Desk['host'], 'part'>, what: StoredText): Promise<unknown> {
  const parts: string[] = []
  for (let part = await host.part(what); part !== null; part = await host.part(what)) parts.push(part)
  return JSON.parse(parts.join(''))
}

/** The server's side: each part is read when the worker asks for it. */
export function storedHost(texts: Readonly<Partial<Record<StoredText, AsyncIterable<string>>>>): StoredHost {
  const reading = {
    report: texts.report?.[Symbol.asyncIterator](),
    tracks: texts.tracks?.[Symbol.asyncIterator](),
  }
  return {
    async part(what) {
      const next = await reading[what]?.next()
      return !next || next.done ? null : next.value
    },
  }
}
