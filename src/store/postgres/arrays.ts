// Arrays as PostgreSQL reads them in text: `{1,NULL,3}`. Written by hand they need no second way to the database to ask
// for the type of a parameter, which the client takes where it may not prepare statements (behind pgbouncer).

export function intArray(values: readonly (number | string | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

export function booleanArray(values: readonly boolean[]): string {
  return `{${values.map((value) => (value ? 't' : 'f')).join(',')}}`
}

export function byteaArray(values: readonly Uint8Array[]): string {
  return `{${values.map((value) => `"\\\\x${value.toHex()}"`).join(',')}}`
}
