// Providers of bars, and the keys of those that need one.

import { type AnyElysia, Elysia } from 'elysia'
import { mayChangeShared } from '../people/accounts/users.ts'
import type { ProviderInfo } from '../people/feeds/provider-keys.ts'
import { notSeriesOwner } from '../market/sharing.ts'
import type { Provider } from '../wire/provider.ts'
import { access, type ApiDeps } from './access.ts'
import { route } from './route.ts'

const wire = ({ isLost, exchanges, asked, ...shown }: ProviderInfo): Provider => ({
  ...shown,
  exchanges: [...exchanges],
  keyLost: isLost,
  asked: [...asked],
})

export function providerRoutes(deps: ApiDeps): AnyElysia {
  const { providerKeys } = deps.features
  return new Elysia({ prefix: '/providers', tags: ['Bars'], normalize: false })
    .use(access(deps))
    .get(
      '',
      async () => ({ providers: (await providerKeys.list()).map(wire), nextCursor: null }),
      route('GET /api/platform/providers'),
    )
    .put(
      '/:name/key',
      async ({ caller, params, body: { key, secret = '' } }) => {
        if (!mayChangeShared(caller.user)) throw notSeriesOwner()
        const name = await providerKeys.give(params.name, { key, secret })
        const found = (await providerKeys.list()).find((one) => one.name === name)
        return { provider: wire(found!) }
      },
      route('PUT /api/platform/providers/{name}/key'),
    )
    .delete(
      '/:name/key',
      async ({ caller, params: { name } }) => {
        if (!mayChangeShared(caller.user)) throw notSeriesOwner()
        return { deleted: await providerKeys.remove(name) }
      },
      route('DELETE /api/platform/providers/{name}/key'),
    )
}
