// The whole HTTP application without a port: tests call `handle(request)` on it, `main.ts` lets it listen.

import type { Services } from './api/deps.ts'
import { createApi } from './api/index.ts'

export function createApp(services: Services) {
  return createApi(services)
}
