// What the executable leaves out of the packages it is made of: a byte of code takes four, since the bytecode is in the
// executable too.

import { readFileSync } from 'node:fs'
import type { BunPlugin } from 'bun'

const MAKERS =
  /[\\/]@simplewebauthn[\\/]server[\\/]esm[\\/](?:registration[\\/]verifications|metadata|helpers[\\/](?:convertX509|mapX509|validateC|validateExt|getCertificateInfo|isCertRevoked)|services[\\/](?:metadataService|defaultRootCerts)).*\.js$/

const EC_SIGNATURE =
  /[\\/]@simplewebauthn[\\/]server[\\/]esm[\\/]helpers[\\/]iso[\\/]isoCrypto[\\/]unwrapEC2Signature\.js$/

/** `Ecdsa-Sig-Value` of RFC 3279 in DER (X.690): a SEQUENCE of two INTEGERs, and nothing behind it. */
const SIGNATURE_PARSER = `
const ECDSASigValue = null
const AsnParser = {
  parse(der) {
    const refuse = () => { throw new Error('no signature of an elliptic curve') }
    let at = der[1] === 0x81 ? 3 : 2
    if (der[0] !== 0x30 || der[at - 1] !== der.length - at || (at === 3 && der[2] < 0x80)) refuse()
    const integer = () => {
      const [tag, length] = der.subarray(at, at + 2)
      if (tag !== 2 || !(length > 0 && length < 0x80) || at + 2 + length > der.length) refuse()
      return der.slice(at + 2, (at += 2 + length))
    }
    const [r, s] = [integer(), integer()]
    if (at !== der.length) refuse()
    return { r, s }
  },
}
`

const BOOK_ERRORS =
  /[\\/]read-excel-file[\\/]modules[\\/](?:zip[\\/]UnzipError|xlsx[\\/](?:file[\\/]InvalidInputError|SheetNotFoundError|InvalidSpreadsheetError))\.js$/
const BOOK_UNZIP = /[\\/]read-excel-file[\\/]modules[\\/]zip[\\/]unzipFromArrayBuffer\.js$/

const JSON_SCHEMA = /[\\/]zod[\\/]v4[\\/]core[\\/](?:json-schema-processors|to-json-schema)\.js$/
const OTHER_WAYS =
  /[\\/](?:elysia[\\/]dist[\\/]dynamic-handle|typebox[\\/]build[\\/]esm[\\/]type[\\/]extends[\\/]extends-check)\.mjs$/

/** A module with the functions and classes of another, of which each throws when it is called; so do those that they make. */
function namesOnly(path: string): string {
  const text = readFileSync(path, 'utf8')
  const names = [...text.matchAll(/^export (?:async )?(?:function|class|const) (\w+)/gm)]
  return `function refused() { throw new Error('not bundled') }
${names
  .filter(([, name]) => name !== 'allProcessors')
  .map(
    ([, name = '']) =>
      `export function ${name}() { ${/^create[A-Z]/.test(name) ? 'return refused' : 'refused()'} }`,
  )
  .join('\n')}`
}

/** A table: what is left out, each with the reason. */
export const leftOut: BunPlugin = {
  name: 'left-out',
  setup(build) {
    // Which ending a type of file has: what our letters have attached says both.
    build.onLoad({ filter: /[\\/]nodemailer[\\/]dist[\\/]esm[\\/]mime-funcs[\\/]mime-types\.js$/ }, () => ({
      contents: `export const detectMimeType = () => 'application/octet-stream'
export const detectExtension = () => 'bin'`,
      loader: 'js',
    }))
    // The hosts of well-known services of mail, for who names a service instead of a host. SMTP_URL names the host.
    build.onLoad({ filter: /[\\/]nodemailer[\\/]dist[\\/]esm[\\/]well-known[\\/]services\.js$/ }, () => ({
      contents: 'export const services = {}',
      loader: 'js',
    }))
    // The ways to send mail other than SMTP by one connection, which is the only one of ours; what signs it, which the
    // mail server does, and what fetches attachments and tokens from elsewhere.
    build.onLoad(
      {
        filter:
          /[\\/]nodemailer[\\/]dist[\\/]esm[\\/](?:(?:sendmail|ses|stream|json)-transport|smtp-pool|dkim|fetch|xoauth2)[\\/]/,
      },
      () => ({
        contents: `export default class { constructor() { throw new Error('not bundled') } }`,
        loader: 'js',
      }),
    )
    // Errors of the package that reads workbooks, each with a copy of what classes are in old browsers. All of them are one
    // to us: the file cannot be read.
    build.onLoad({ filter: BOOK_ERRORS }, () => ({
      contents: `export default class extends Error {}
export const createUnzipError = (cause) => new Error('unzip', { cause })`,
      loader: 'js',
    }))
    // It unpacks in threads of its own; what it is handed here is small, and not packed at all.
    build.onLoad({ filter: BOOK_UNZIP }, () => ({
      contents: `import { unzipSync } from 'fflate'
export default async (input, { filter }) =>
  unzipSync(new Uint8Array(input), { filter: ({ name }) => filter({ path: name }) })`,
      loader: 'js',
    }))
    // Elysia looks into uploaded files with this package, and does without it where it is missing. No route takes such files.
    build.onResolve({ filter: /^file-type$/ }, ({ path }) => ({ path, namespace: 'left-out' }))
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
      contents: 'throw new Error("not bundled")',
      loader: 'js',
    }))
    // The SDK checks with it what a person fills in for an agent's tool. No tool of ours asks people for anything.
    build.onLoad({ filter: /[\\/]validation[\\/]ajv-provider\.js$/ }, () => ({
      contents: `export class AjvJsonSchemaValidator { getValidator() { throw new Error('not bundled') } }`,
      loader: 'js',
    }))
    // Of the passkeys' package what has to do with the makers of authenticators, whom nobody asks here: their certificates
    // and lists, with all of X.509 behind them. Of ASN.1 the form of a signature remains, which needs no library.
    build.onLoad({ filter: EC_SIGNATURE }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      const contents = source.replace(/^import \{ (?:AsnParser|ECDSASigValue) \}.*$/gm, '') + SIGNATURE_PARSER
      if (/@peculiar/.test(contents))
        throw new Error('unwrapEC2Signature.js has changed: look at this plugin again')
      return { contents, loader: 'js' }
    })
    build.onLoad({ filter: MAKERS }, ({ path }) => ({ contents: namesOnly(path), loader: 'js' }))
    // What describes schemas of the SDK's as JSON. Ours are TypeBox's, which are JSON.
    build.onLoad({ filter: JSON_SCHEMA }, ({ path }) => ({
      contents: `${namesOnly(path)}
${path.includes('processors') ? 'export const allProcessors = {}' : 'export { processSchema as process }'}`,
      loader: 'js',
    }))
    // How Elysia answers where it may not make code, and what compares types with each other, for types that no schema has.
    build.onLoad({ filter: OTHER_WAYS }, ({ path }) => ({
      contents: `${namesOnly(path)}
${path.includes('elysia') ? 'export { refused as createDynamicErrorHandler, refused as createDynamicHandler }' : 'export const ExtendsResult = {}'}`,
      loader: 'js',
    }))
  },
}
