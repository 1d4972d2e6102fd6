// An authenticator in software: makes passkeys and signs with them as a phone does, and wrongly where a test asks for it.

interface Options {
  readonly challenge: string
  readonly rp?: { readonly id: string }
  readonly rpId?: string
}

/** What a faulty or stolen authenticator does otherwise. */
export interface Faults {
  readonly origin?: string
  readonly challenge?: string
  readonly host?: string
  readonly counter?: number
  /** Without having made sure of the person. */
  readonly unverified?: boolean
  readonly type?: string
  readonly attested?: boolean
}

const ORIGIN = 'http://localhost'
const [PRESENT, VERIFIED, ATTESTED] = [0x01, 0x04, 0x40]
const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url')

export class SoftPasskey {
  readonly id: Uint8Array
  readonly #pair: CryptoKeyPair
  counter = 0

  private constructor(pair: CryptoKeyPair) {
    this.#pair = pair
    this.id = crypto.getRandomValues(new Uint8Array(16))
  }

  static async make(): Promise<SoftPasskey> {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
    return new SoftPasskey(await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']))
  }

  /** What `navigator.credentials.create` answers, as JSON. */
  async register(options: Options, faults: Faults = {}) {
    const client = clientData('webauthn.create', options, faults)
    const authData = Buffer.concat([
      await this.#authData(faults.host ?? options.rp?.id ?? '', ATTESTED, faults),
      new Uint8Array(16),
      new Uint8Array([0, this.id.length]),
      this.id,
      await this.#coseKey(),
    ])
    const statement = faults.attested
      ? [text('fmt'), text('packed'), text('attStmt'), map(1), text('alg'), new Uint8Array([0x26])]
      : [text('fmt'), text('none'), text('attStmt'), map(0)]
    const attestation = Buffer.concat([map(3), ...statement, text('authData'), bytes(authData)])
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: base64url(client),
        attestationObject: base64url(attestation),
        transports: ['internal'],
      },
    }
  }

  /** What `navigator.credentials.get` answers, as JSON. */
  async sign(options: Options, faults: Faults = {}, by: SoftPasskey = this) {
    const client = clientData('webauthn.get', options, faults)
    const authData = await this.#authData(faults.host ?? options.rpId ?? '', 0, faults)
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', client))
    const raw = await crypto.subtle.sign(
      { name: 'ECDSA', hash: 'SHA-256' },
      by.#pair.privateKey,
      Buffer.concat([authData, hash]),
    )
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: base64url(client),
        authenticatorData: base64url(authData),
        signature: base64url(asDer(new Uint8Array(raw))),
      },
    }
  }

  #credential() {
    const id = base64url(this.id)
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {} }
  }

  async #authData(host: string, flags: number, { unverified, counter }: Faults): Promise<Uint8Array> {
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', Buffer.from(host)))
    const tail = Buffer.alloc(5)
    tail[0] = flags | PRESENT | (unverified ? 0 : VERIFIED)
    tail.writeUInt32BE(counter ?? this.counter, 1)
    return Buffer.concat([hash, tail])
  }

  /** COSE: a map of small integers, so its bytes can be written down. */
  async #coseKey(): Promise<Uint8Array> {
    const raw = new Uint8Array(await crypto.subtle.exportKey('raw', this.#pair.publicKey))
    const head = new Uint8Array([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21])
    const y = new Uint8Array([0x22])
    return Buffer.concat([head, bytes(raw.slice(1, 33)), y, bytes(raw.slice(33))])
  }
}

function clientData(type: string, options: Options, faults: Faults) {
  return Buffer.from(
    JSON.stringify({
      type: faults.type ?? type,
      challenge: faults.challenge ?? options.challenge,
      origin: faults.origin ?? ORIGIN,
      crossOrigin: false,
    }),
  )
}

const map = (size: number) => new Uint8Array([0xa0 + size])
const text = (value: string) => Buffer.concat([new Uint8Array([0x60 + value.length]), Buffer.from(value)])
function bytes(value: Uint8Array): Uint8Array {
  return Buffer.concat([new Uint8Array([0x58, value.length]), value])
}

/** WebCrypto signs as two numbers of a fixed length, WebAuthn as ASN.1. */
function asDer(raw: Uint8Array): Uint8Array {
  const integer = (value: Uint8Array) => {
    const start = value.findIndex((byte) => byte !== 0)
    const bare = value.slice(start)
    const whole = bare[0]! > 0x7f ? Buffer.concat([new Uint8Array(1), bare]) : bare
    return Buffer.concat([new Uint8Array([0x02, whole.length]), whole])
  }
  const both = Buffer.concat([integer(raw.slice(0, 32)), integer(raw.slice(32))])
  return Buffer.concat([new Uint8Array([0x30, both.length]), both])
}
