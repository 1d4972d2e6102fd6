// Arrays as PostgreSQL reads them in text: `{1,NULL,3}`. We write them by hand, because the client would make a second
// round trip to ask for the parameter's type wherever it may not prepare statements (behind pgbouncer).

export function intArray(values: readonly (number | string | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

export function booleanArray(values: readonly boolean[]): string {
  return `{${values.map((value) => (value ? 't' : 'f')).join(',')}}`
}

export function byteaArray(values: readonly Uint8Array[]): string {
  return `{${values.map((value) => `"\\\\x${value.toHex()}"`).join(',')}}`
}
