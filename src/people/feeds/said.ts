// How a feed goes, as a sentence for people.

import type { FeedStatus, PollStatus, StreamStatus } from '../../market/live/feed-status.ts'

export function saidOf(feed: FeedStatus, now: number): string {
  const { state, provider, lastError, stream, poll } = feed
  if (state === 'stopped') return lastError ?? 'Nobody is asked for it.'
  const name = provider ?? 'a provider'
  if (stream) return saidOfStream(feed, stream, name)
  if (!poll) return `Waits for its first bars of ${name}.`
  return saidOfPoll(feed, poll, { name, now })
}

function saidOfStream(
  { state, lastError, lastSuccessAt, failures }: FeedStatus,
  stream: StreamStatus,
  name: string,
): string {
  const past = `${stream.cuts === 0 ? '' : ` ${count(stream.cuts, 'cut')}${lastCut(stream.lastCut)}.`}${mended(stream)}`
  if (state === 'live') return `A stream of ${name} since ${clockTime(stream.liveSince)}.${past}`
  if (state === 'waiting') return `Waits for its stream of ${name}.`
  const isNothing = failures > 0 || lastSuccessAt === null
  const next = isNothing
    ? 'It is tried again'
    : 'The stream is tried again; until then bars are fetched as they end'
  return `${sentence(lastError)} ${next}.${past}`
}

function saidOfPoll(
  { state, lastError, lastSuccessAt, nextAt }: FeedStatus,
  poll: PollStatus,
  { name, now }: { readonly name: string; readonly now: number },
): string {
  const { everyMs, sharedBy, delayMs, aheadMs } = poll
  const why =
    sharedBy === null
      ? ''
      : sharedBy === 1
        ? ', as often as its key allows'
        : `, since ${count(sharedBy, 'series', '')} share what ${name} allows`
  const heard = lastSuccessAt === null ? 'no answer yet' : `the last answer ${ago(now - lastSuccessAt)}`
  const late = delayMs === 0 ? '' : ` Its bars are up to ${span(delayMs)} late.`
  const skew = aheadMs === 0 ? '' : ` The clock of this server is ${span(aheadMs)} ahead of that of ${name}.`
  const wait = (nextAt ?? now) - now
  const when = wait < 1000 ? 'now' : `in ${span(wait)}`
  const next = `It is asked again ${when}.`
  if (state === 'waiting') return `Waits for its first bars of ${name}${why}. It is asked ${when}.`
  if (state === 'retrying') return `${sentence(lastError)} ${next} Until now: ${heard}.${mended(poll)}`
  // A closed market is asked rarely, and so is one on a key whose requests are used up.
  const then = wait > Math.max(2 * everyMs, MINUTE) ? ` ${next}` : ''
  return `Asks ${name} every ${span(everyMs)}${why}; ${heard}.${then}${late}${skew}${mended(poll)}`
}

const MINUTE = 60_000

const mended = ({ mended: bars }: { readonly mended: number }) =>
  bars === 0 ? '' : ` ${count(bars, 'bar')} mended by a request.`

function lastCut(cut: { readonly at: number; readonly reason: string } | null): string {
  return cut ? `, the last at ${clockTime(cut.at)}: ${cut.reason}` : ''
}

const count = (number: number, noun: string, plural = 's') => `${number} ${noun}${number === 1 ? '' : plural}`

const ago = (ms: number) => (ms < 1000 ? 'just now' : `${span(ms)} ago`)

/** Two digits are enough of everything. */
function span(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}

const sentence = (text: string | null) =>
  text === null ? 'It does not go.' : /[.!?]$/.test(text) ? text : `${text}.`

const clockTime = (time: number | null) =>
  time === null ? 'an unknown time' : `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`
