// What an agent is told instead of an answer, with the code that JSON-RPC and MCP have for it. Without one it would be taken
// for a failure of the server (-32603), after which agents try again.

const CODES = {
  /** JSON-RPC: also of a tool or a prompt that there is not. */
  invalid_params: -32602,
  /** MCP: the resource is not there. */
  resource_not_found: -32002,
} as const

export class AgentError extends Error {
  readonly code: number
  readonly data: object | undefined

  constructor(kind: keyof typeof CODES, message: string, data?: object) {
    super(message)
    this.code = CODES[kind]
    this.data = data
  }
}
