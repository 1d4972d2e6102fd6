// There is no server behind the playground: what components of the dashboard would ask one is refused, and looks the same.

import type { ProblemData } from '../../wire/problem.ts'

export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId = ''
  readonly diagnostics: NonNullable<ProblemData['diagnostics']>

  constructor(status: number, { code = 'unknown', message = '', diagnostics = [] }: Partial<ProblemData>) {
    super(message)
    this.status = status
    this.code = code
    this.diagnostics = diagnostics
  }
}

export const call = (): Promise<never> =>
  Promise.reject(new ApiError(0, { code: 'offline', message: 'The playground has no server.' }))
export const isAway = (): boolean => true
