// What the tests use of the package, which brings no types of its own.
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }
  interface Context {
    readonly oidc: {
      readonly client?: { readonly clientId: string }
      readonly session?: { readonly accountId?: string }
      readonly provider: {
        readonly Grant: new (of: { readonly clientId: string; readonly accountId: string }) => Grant
      }
    }
  }
  interface Configuration {
    readonly clients: readonly object[]
    readonly jwks: { readonly keys: readonly object[] }
    readonly cookies: { readonly keys: readonly string[] }
    readonly claims: Readonly<Record<string, readonly string[]>>
    readonly ttl: Readonly<Record<string, number>>
    readonly features: Readonly<Record<string, { readonly enabled: boolean }>>
    readonly interactions: { url(context: Context, interaction: { readonly uid: string }): string }
    findAccount(
      context: Context,
      id: string,
    ): Promise<{ readonly accountId: string; claims(): Promise<object> }>
    loadExistingGrant(context: Context): Promise<Grant>
  }
  export class Provider {
    constructor(issuer: string, configuration: Configuration)
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  }
}
