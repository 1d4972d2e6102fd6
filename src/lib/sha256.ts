/** The SHA-256 of the data in lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return Bun.SHA256.hash(data, 'hex')
}
