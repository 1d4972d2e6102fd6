// The identity provider that the settings name, asked over the guarded network.

import { IdentityProvider, type OpenIdDeps } from '../people/accounts/openid.ts'
import type { Config } from './config.ts'
import { askGuarded, type GuardedNet } from './guarded-net.ts'

/** null: the settings name none. */
export function identityProviderOf(
  config: Config,
  net: GuardedNet,
  deps: Pick<OpenIdDeps, 'clock' | 'log'>,
): IdentityProvider | null {
  if (config.OIDC_ISSUER === null) return null
  return new IdentityProvider({
    ...deps,
    ask: askGuarded(net),
    settings: {
      issuer: config.OIDC_ISSUER,
      clientId: config.OIDC_CLIENT_ID,
      clientSecret: config.OIDC_CLIENT_SECRET === '' ? null : config.OIDC_CLIENT_SECRET,
      name: config.OIDC_NAME === '' ? new URL(config.OIDC_ISSUER).hostname : config.OIDC_NAME,
      scopes: [...new Set(['openid', ...config.OIDC_SCOPES])],
      groupsClaim: config.OIDC_GROUPS_CLAIM,
      groups: config.OIDC_GROUPS,
      adminGroups: config.OIDC_ADMIN_GROUPS,
      signUpOpen: config.OIDC_SIGNUP === 'open',
    },
  })
}
