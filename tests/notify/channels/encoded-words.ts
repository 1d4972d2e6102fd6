// RFC 2047, section 2: how a header says letters that are not ASCII.

export const decode = (value: string): string =>
  value
    // White space between two of them is none of the text.
    .replace(/(\?=)\s+(?==\?)/g, '$1')
    .replace(/=\?utf-8\?b\?([A-Za-z0-9+/=]+)\?=/gi, (_, text: string) =>
      Buffer.from(text, 'base64').toString(),
    )
