// All kinds of channels. A new one is a file in `kinds/`, and a line here and in `wire/channel.ts`.

import type { ChannelKindName } from '../../wire/channel.ts'
import type { ChannelKind } from './kind.ts'
import { discord, matrix, slack, telegram } from './kinds/chat.ts'
import { http } from './kinds/http.ts'
import { gotify, ntfy, pushover } from './kinds/push.ts'
import { push } from './kinds/web-push.ts'

export const KINDS: Readonly<Record<ChannelKindName, ChannelKind>> = {
  ntfy,
  telegram,
  discord,
  slack,
  gotify,
  pushover,
  matrix,
  http,
  push,
}
