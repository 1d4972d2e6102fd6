// A mail server that takes every letter and keeps it.

import { createServer, type Socket } from 'node:net'

export interface Received {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and text, as they came. */
  readonly data: string
}

/** RFC 5321, as much of it as taking a letter needs. */
export async function smtpSink(onLetter: (letter: Received) => void) {
  const server = createServer((socket) => {
    let from = ''
    let to: string[] = []
    let data: string[] | null = null
    let rest = ''
    const say = (line: string) => socket.write(`${line}\r\n`)
    say('220 sink ESMTP')
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      const lines = (rest + chunk.toString()).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) take(line, socket)
    })
    function take(line: string, { end }: Socket): void {
      if (data !== null) {
        // A dot alone ends the letter; one more dot was put before lines that begin with one.
        if (line !== '.') return void data.push(line.replace(/^\.\./, '.'))
        onLetter({ from, to, data: data.join('\n') })
        ;[to, data] = [[], null]
        return void say('250 kept')
      }
      const address = /<([^>]*)>/.exec(line)?.[1] ?? ''
      const verb = line.slice(0, 4).toUpperCase()
      if (verb === 'MAIL') from = address
      if (verb === 'RCPT') to.push(address)
      if (verb === 'DATA') data = []
      if (verb === 'QUIT') return void end.call(socket, '221 bye\r\n')
      say(verb === 'DATA' ? '354 go on' : '250 sink')
    }
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as { readonly port: number }
  return { url: `smtp://127.0.0.1:${port}`, close: () => server.close() }
}
