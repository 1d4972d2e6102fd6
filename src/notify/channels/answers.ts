// What an answer says: that the service took the message, that it never will, or that somebody else answered in its place.

import type { Reply } from '../webhooks/send.ts'
import type { AttemptRecord } from '../webhooks/parcels.ts'
import { jsonOf, type ChannelKind, type Settings } from './kind.ts'

/** Answers by which a service says that the same request will never be taken: what was set up is wrong, or gone. */
const FINAL: readonly number[] = [400, 401, 403, 404, 405, 410, 413, 422]

const WRONG_SETTING = 'wrong_setting'

/** Whether trying the same again is of no use. */
export const isFinal = ({ status, failure }: AttemptRecord): boolean =>
  FINAL.includes(status) || failure === WRONG_SETTING

/** The answer, as none at all if it has a status of success and is not what the service says. */
export function ownAnswer({ label, isTaken, misset }: ChannelKind, settings: Settings, reply: Reply): Reply {
  const isSuccess = reply.status >= 200 && reply.status < 300
  const wrong = isSuccess ? misset?.(jsonOf(reply), settings) : null
  if (wrong) return { ...foreign(reply, wrong), failure: WRONG_SETTING }
  if (!isSuccess || (isTaken?.(reply) ?? true)) return reply
  return foreign(
    reply,
    `This is no answer of ${label}, though its status is ${reply.status}. Perhaps a proxy or the sign-in page of a network gave it.`,
  )
}

/** What a proxy answers of itself. Of other refusals, such as 413, it is no matter whose they are. */
const SAID_BY_PROXIES: readonly number[] = [401, 403, 404, 405]

/** The answer, as none at all if it refuses for good and is not what the service says. */
export function ownRefusal({ label, refuses }: ChannelKind, reply: Reply): Reply {
  if (!SAID_BY_PROXIES.includes(reply.status) || (refuses?.(reply) ?? true)) return reply
  return foreign(
    reply,
    `The status ${reply.status} came, but not in the words of ${label}. Perhaps a proxy gave it, or the address is that of another server.`,
  )
}

const foreign = (reply: Reply, note: string): Reply => ({
  ...reply,
  status: 0,
  failure: 'not_the_service',
  note,
})

/** Answers by which a service may refuse a picture and take the text. */
export const MAY_REFUSE_PICTURE: readonly number[] = [400, 403, 405, 413, 415, 422]

/** Whether an attempt may have failed because of what it carried: it was neither put off nor without a connection. */
export const mayBeForPicture = ({ status, failure }: AttemptRecord): boolean =>
  status >= 500 || failure === 'timeout' || failure === 'connection_reset'
