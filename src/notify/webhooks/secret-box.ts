// Seals stored secrets: AES-256-GCM under an instance key in a file outside the database, so that a copied database alone
// reveals nothing. The record's id is bound in, so that boxes cannot be swapped between records.

export interface SecretBox {
  seal(text: string, boundTo: string): Promise<string>
  /** Rejects if the box was made with another key, for another record, or was changed. */
  open(sealed: string, boundTo: string): Promise<string>
}

const VERSION = 'v1.'
const NONCE_BYTES = 12

/** `key` is 32 bytes. */
export async function createSecretBox(
  key: Uint8Array,
  randomBytes: (count: number) => Uint8Array,
): Promise<SecretBox> {
  const imported = await crypto.subtle.importKey('raw', key.slice().buffer, 'AES-GCM', false, [
    'encrypt',
    'decrypt',
  ])
  const encoder = new TextEncoder()
  const parameters = (nonce: Uint8Array, boundTo: string) => ({
    name: 'AES-GCM',
    iv: nonce.slice().buffer,
    additionalData: encoder.encode(boundTo),
  })
  return {
    async seal(text, boundTo) {
      const nonce = randomBytes(NONCE_BYTES)
      const sealed = await crypto.subtle.encrypt(parameters(nonce, boundTo), imported, encoder.encode(text))
      return VERSION + Buffer.concat([nonce, new Uint8Array(sealed)]).toString('base64')
    },
    async open(sealed, boundTo) {
      if (!sealed.startsWith(VERSION)) throw new Error('unknown form of sealed secret')
      const whole = new Uint8Array(Buffer.from(sealed.slice(VERSION.length), 'base64'))
      const opened = await crypto.subtle.decrypt(
        parameters(whole.subarray(0, NONCE_BYTES), boundTo),
        imported,
        whole.slice(NONCE_BYTES).buffer,
      )
      return new TextDecoder().decode(opened)
    },
  }
}
