// Tables as CSV that a browser saves as a file.

/** `asOf`: the day of whose TradingView the runs in it are, which the file's name says. */
export function csvAnswer(
  name: string,
  text: string | ReadableStream<Uint8Array>,
  { asOf }: { readonly asOf?: string } = {},
): Response {
  const file = asOf === undefined ? name : `${name}-as-of-${asOf}`
  return new Response(text, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${file}.csv"`,
    },
  })
}

/** Reads no further ahead than the client takes. */
export function textStream(texts: AsyncIterable<string>): ReadableStream<Uint8Array> {
  return byteStream(encoded(texts))
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const text of texts) yield encoder.encode(text)
}

export function byteStream(bytes: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const pieces = bytes[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: () => void pieces.return?.(undefined),
  })
}
