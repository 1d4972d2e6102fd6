// Takes out of an error what nobody may read who reads the list of errors: stacks and addresses of pages repeat tokens,
// passwords and links that are credentials by themselves.

const NAME = String.raw`(?<![\w-])[\w-]*(?:token|secret|passw(?:or)?d|invitation|credential|signature|session|cookie|authorization|api[-_]?key)`

/** What is taken away stands in the first group's place, behind it. */
const SECRETS: readonly RegExp[] = [
  // Tokens of ours, and those of services that begin with their maker's name.
  /()\b(?:crm_pat_|gh[opsu]_|github_pat_|xox[a-z]-|sk[-_](?:live|test|proj)[-_]|AKIA|AIza|whsec_)[\w-]{8,}/g,
  // JSON Web Tokens, also unsigned ones, and the beginning of one.
  /()\beyJ[\w-]{8,}(?:\.[\w-]*)*/g,
  // `Authorization: Bearer …`, and the like in a text.
  /(\b(?:bearer|basic|digest|negotiate)\s+)[\w.~+/=:-]{6,}/gi,
  // `https://user:password@host`. A pattern of the whole scheme would look for its end from each of its letters.
  /([a-z\d+.-]:\/\/)[^\s/@?#]+(?=@)/gi,
  // Addresses of inboxes, and links in messages: each is a credential.
  /(\/(?:hooks|pictures|a)\/)[\w-]{16,}/g,
  // Parameters, fields of JSON and cookies by their names: up to the quote, or to what ends a value without quotes. A name
  // begins where a word does, so that a long word is read once.
  new RegExp(String.raw`(${NAME}\\?["']?\s*[=:]\s*\\?["'])[^"'\\]+`, 'gi'),
  new RegExp(String.raw`(${NAME}\s*[=:]\s*)(?:(?:bearer|basic)\s+)?[^\s"'\\&;,)}\]]+`, 'gi'),
  /([?&#](?:key|code|sig|state|auth)=)[^\s"'&;,)#]+/gi,
]

/** `text` with `…` in the place of each. Time grows with its length. */
export const withoutSecrets = (text: string): string =>
  SECRETS.reduce((left, secret) => left.replace(secret, '$1…'), text)
