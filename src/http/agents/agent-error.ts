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

/** What a request cannot do without, and what that is. */
const NEEDED: Readonly<Record<string, readonly [field: string, what: string]>> = {
  'tools/call': ['name', 'the name of a tool; tools/list names them all'],
  'prompts/get': ['name', 'the name of a prompt; prompts/list names them all'],
  'resources/read': ['uri', 'the address of a resource; resources/list names them all'],
}

/** Says which of a request's params is wrong; without `field` there are none. */
export function wrongParams(method: string, field: string, why: string): AgentError {
  const [needed, what] = NEEDED[method] ?? []
  const text =
    needed !== undefined && (field === '' || field === needed)
      ? `\`${method}\` needs \`${needed}\`, ${what}.`
      : `\`${method}\`: \`${['params', field].filter(Boolean).join('.')}\`: ${why}.`
  return new AgentError('invalid_params', text)
}
