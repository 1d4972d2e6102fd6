// Providers of bars, and the keys of those that need one.

import { mayChangeShared } from '../people/accounts/users.ts'
import type { ProviderInfo } from '../people/feeds/provider-keys.ts'
import { notSeriesOwner } from '../market/sharing.ts'
import type { Provider } from '../wire/provider.ts'
import type { Routes } from './route.ts'

const wire = ({ isLost, exchanges, asked, ...shown }: ProviderInfo): Provider => ({
  ...shown,
  exchanges: [...exchanges],
  keyLost: isLost,
  asked: [...asked],
})

export const PROVIDER_ROUTES: Routes = {
  'GET /api/platform/providers': async ({ deps }) => ({
    providers: (await deps.features.providerKeys.list()).map(wire),
    nextCursor: null,
  }),
  'PUT /api/platform/providers/{name}/key': async ({ deps, caller, params, body: { key, secret = '' } }) => {
    if (!mayChangeShared(caller.user)) throw notSeriesOwner()
    const name = await deps.features.providerKeys.give(params.name, { key, secret })
    const found = (await deps.features.providerKeys.list()).find((one) => one.name === name)
    return { provider: wire(found!) }
  },
  'DELETE /api/platform/providers/{name}/key': async ({ deps, caller, params: { name } }) => {
    if (!mayChangeShared(caller.user)) throw notSeriesOwner()
    return { deleted: await deps.features.providerKeys.remove(name) }
  },
}
