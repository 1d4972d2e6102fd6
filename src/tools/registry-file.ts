// The description by which the public registry of MCP servers lists this one, as its schema of 2025-12-11 has it. Everybody
// has a server of their own, so its host is a variable.

interface Listed {
  readonly version: string
  readonly description: string
  /** `io.github.OWNER/chartroom`: the name space belongs to whoever publishes. */
  readonly name: string
}

/** The registry takes at most so many characters of a description. */
const DESCRIPTION_MAX = 100

export function registryFile({ name, version, description }: Listed): object {
  if (!/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(name))
    throw new Error(`${name} is no name in the registry; take one like io.github.OWNER/chartroom`)
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name,
    title: 'Chartroom',
    description: description.slice(0, DESCRIPTION_MAX),
    version,
    remotes: [
      {
        type: 'streamable-http',
        url: '{address}/mcp',
        variables: {
          address: {
            description: 'Where your Chartroom is, such as https://charts.example.com',
            isRequired: true,
            default: 'http://localhost:3000',
          },
        },
        headers: [
          {
            name: 'Authorization',
            description: 'Bearer and an API token of yours: Settings, API tokens',
            value: 'Bearer {token}',
            isRequired: true,
            isSecret: true,
            variables: { token: { description: 'crm_pat_…', isRequired: true, isSecret: true } },
          },
        ],
      },
    ],
  }
}
