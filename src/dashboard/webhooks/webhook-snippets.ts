// Code that verifies a delivery, in the reader's programming language. `X-Service-Signature` is the hex HMAC-SHA256 of the
// raw body, keyed with the secret as it was shown.

export const SNIPPET_LANGUAGES = { node: 'Node', python: 'Python', curl: 'Shell' } as const
export type SnippetLanguage = keyof typeof SNIPPET_LANGUAGES

export const SNIPPETS: Readonly<Record<SnippetLanguage, string>> = {
  node: `import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secret = process.env.CHARTROOM_SECRET   // whsec_…

createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)           // the raw bytes, before parsing
  const expected = 'sha256=' + createHmac('sha256', secret).update(body).digest('hex')
  const given = request.headers['x-service-signature'] ?? ''
  const ok = given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
  if (!ok) return response.writeHead(401).end()
  const { event, data } = JSON.parse(body)
  console.log(event, data)
  response.writeHead(204).end()                // answer fast, work later
}).listen(8080)
`,
  python: `import hashlib, hmac, os
from flask import Flask, request

app = Flask(__name__)
secret = os.environ["CHARTROOM_SECRET"].encode()  # whsec_…

@app.post("/hook")
def hook():
    body = request.get_data()                     # the raw bytes, before parsing
    expected = "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, request.headers.get("X-Service-Signature", "")):
        return "", 401
    message = request.get_json()
    print(message["event"], message["data"])
    return "", 204                                # answer fast, work later
`,
  curl: `# Sign a body as Chartroom does, and send it to your receiver.
body='{"event":"webhook.test","delivered_at":"2026-01-01T00:00:00.000Z","data":{}}'
signature=$(printf %s "$body" | openssl dgst -sha256 -hmac "$CHARTROOM_SECRET" | sed 's/^.* //')
curl -i https://example.com/hook \\
  -H 'Content-Type: application/json' \\
  -H "X-Service-Signature: sha256=$signature" \\
  -d "$body"
`,
}
