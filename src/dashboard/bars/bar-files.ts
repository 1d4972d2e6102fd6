// Sending a file of bars, with progress.

import type { Answer } from '../../wire/operations.ts'
import { ApiError, apiUrl } from '../api-client.ts'
import type { Market } from '../workspace.ts'

export type Imported = Answer<'POST /api/platform/bars/import'>

/** fetch cannot tell how much has been sent; XMLHttpRequest can. */
export function importBarsFile(
  file: File,
  market: Market,
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
): Promise<Imported> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', apiUrl('/api/platform/bars/import', { ...market }))
    request.setRequestHeader('content-type', /\.json$/i.test(file.name) ? 'application/json' : 'text/csv')
    request.responseType = 'json'
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total)
    request.onload = () => {
      const answer = request.response as (Imported & { error?: object }) | null
      if (request.status === 200 && answer) resolve(answer)
      else reject(new ApiError(request.status, answer?.error ?? {}))
    }
    request.onerror = () =>
      reject(
        new ApiError(0, {
          code: 'offline',
          message: 'Chartroom cannot be reached. Is the server still running?',
        }),
      )
    request.onabort = () => reject(new DOMException('Given up', 'AbortError'))
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
}
