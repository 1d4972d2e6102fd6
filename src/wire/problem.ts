// The form of every refusal: `{"ok":false,"error":{…}}`.

import { Type } from '@sinclair/typebox'
import { oneOf, type Wire } from './schema.ts'
import { Diagnostic } from './script.ts'

const FieldProblem = Type.Object({
  in: oneOf(['body', 'query', 'path', 'header']),
  path: Type.String({ description: 'JSON Pointer.' }),
  code: Type.String(),
  message: Type.String(),
})

export const ProblemData = Type.Object({
  code: Type.String({ description: 'Stable; clients may compare it.' }),
  message: Type.String({ description: 'A sentence for people.' }),
  requestId: Type.String(),
  fields: Type.Optional(Type.Array(FieldProblem)),
  retryAfter: Type.Optional(Type.Integer({ description: 'Seconds.' })),
  diagnostics: Type.Optional(
    Type.Array(Diagnostic, { description: 'What is wrong with a script, and where.' }),
  ),
})
export type ProblemData = Wire<typeof ProblemData>

export const ErrorAnswer = Type.Object({ ok: Type.Literal(false), error: ProblemData }, { $id: 'Error' })
