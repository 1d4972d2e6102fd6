// How a feed goes, as a sentence for people.

import type { FeedStatus } from '../market/providers/poller.ts'

export function saidOf({ state, provider, lastError, lastSuccessAt, stream }: FeedStatus): string {
  const name = provider ?? 'a provider'
  if (state === 'stopped') return lastError ?? 'Nobody is asked for it.'
  if (!stream) {
    if (state === 'waiting') return `Waits for its first bars of ${name}.`
    if (state === 'retrying') return `${sentence(lastError)} It is asked again.`
    return `Asked for by turns, the last time at ${clockTime(lastSuccessAt)}.`
  }
  const past = [
    stream.cuts === 0 ? '' : ` ${count(stream.cuts, 'cut')}${lastCut(stream.lastCut)}.`,
    stream.mended === 0 ? '' : ` ${count(stream.mended, 'bar')} mended by a request.`,
  ].join('')
  if (state === 'live') return `A stream of ${name} since ${clockTime(stream.liveSince)}.${past}`
  if (state === 'waiting') return `Waits for its stream of ${name}.`
  return `${sentence(lastError)} The stream is tried again; until then bars are fetched as they end.${past}`
}

function lastCut(cut: { readonly at: number; readonly reason: string } | null): string {
  return cut ? `, the last at ${clockTime(cut.at)}: ${cut.reason}` : ''
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`

const sentence = (text: string | null) =>
  text === null ? 'It does not go.' : /[.!?]$/.test(text) ? text : `${text}.`

const clockTime = (time: number | null) =>
  time === null ? 'an unknown time' : `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`
