// Addresses of scripts, as the page's policy (Trusted Types) accepts them: only from a named policy.

interface Policies {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): unknown }
}

/** The address of a worker of our own; typed as a string, which is what browsers without Trusted Types take. */
export function trustedScript(address: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: Policies }
  const policy = trustedTypes?.createPolicy('chartroom-worker', { createScriptURL: (url) => url })
  return (policy?.createScriptURL(address) ?? address) as string
}
