// Cuts texts without ever splitting a surrogate pair, half of which cannot be encoded.

/** Pieces of at most `size` characters. */
export function* cutText(text: string, size: number): Generator<string> {
  let at = 0
  while (text.length - at > size) {
    const end = at + size
    const isPair = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
    const cut = isPair ? end - 1 : end
    yield text.slice(at, cut)
    at = cut
  }
  if (at < text.length) yield text.slice(at)
}
