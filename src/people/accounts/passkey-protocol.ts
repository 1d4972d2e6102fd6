// The parts of @simplewebauthn/server that passkeys take; the rest of it is left out of the executable.

export {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
export { decodeAttestationObject, isoBase64URL, isoCBOR } from '@simplewebauthn/server/helpers'
