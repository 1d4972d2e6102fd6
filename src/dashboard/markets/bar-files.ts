// Sending a file of bars: to be looked at, or to be stored, with progress.

import type { Answer } from '../../wire/operations.ts'
import type { ProblemData } from '../../wire/problem.ts'
import { words } from '../../lib/words.ts'
import { ApiError, apiUrl, notReached } from '../api-client.ts'
import type { Market } from '../workspace.ts'

export type Imported = Answer<'POST /api/platform/bars/import'>
export type Inspected = Answer<'POST /api/platform/bars/inspect'>

/** What the user says about the file; '' = as it was found. */
export type FileHints = Readonly<Record<(typeof HINTS)[number], string>>
const HINTS = words('timesIn dates duplicates columns ticker dated widen volumePerBar')
export const NO_HINTS = Object.fromEntries(HINTS.map((hint) => [hint, ''])) as FileHints

/** So much of a file tells how all of it would be read. */
const HEAD_BYTES = 8 << 20

/** Parquet says at its end what it is. */
export const isLookedAtInPart = ({ name, size }: File): boolean =>
  size > HEAD_BYTES && !/\.parquet$/i.test(name)

/** Says how the file would be read. Nothing is stored. */
export function inspectBarsFile(file: File, hints: FileHints, signal: AbortSignal): Promise<Inspected> {
  const isPart = isLookedAtInPart(file)
  const query = { ...given(hints), fileName: file.name, ...(isPart && { partial: 'true' }) }
  const body = isPart ? file.slice(0, HEAD_BYTES) : file
  return send('/api/platform/bars/inspect', body, query, { signal, file })
}

export function importBarsFile(
  file: File,
  market: Market,
  hints: FileHints & { readonly sha256: string },
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
): Promise<Imported> {
  const query = { ...market, ...given(hints), fileName: file.name }
  return send('/api/platform/bars/import', file, query, { signal, file, onProgress })
}

/** The check sums that lie beside the files, by the name of the file that each is of. */
export async function checkSums(files: readonly File[]): Promise<ReadonlyMap<string, string>> {
  const sums = new Map<string, string>()
  for (const file of files) {
    if (!isCheckSum(file) || file.size > 4096) continue
    const [sum] = /\b[0-9a-f]{64}\b/i.exec(await file.text()) ?? []
    if (sum) sums.set(file.name.replace(/\.CHECKSUM$/i, ''), sum)
  }
  return sums
}

export const isCheckSum = ({ name }: File): boolean => /\.CHECKSUM$/i.test(name)

function given(hints: object): Record<string, string> {
  return Object.fromEntries(Object.entries(hints).filter(([, value]) => value !== ''))
}

/** Rows have no fields on the page: the sentence says which are wrong. */
function shown(problem: Partial<ProblemData>): Partial<ProblemData> {
  const fields = problem.fields?.filter(({ path }) => ['/exchange', '/symbol', '/interval'].includes(path))
  return { ...problem, fields: fields ?? [] }
}

interface Sending {
  readonly file: File
  readonly signal: AbortSignal
  readonly onProgress?: (fraction: number) => void
}

/** fetch cannot tell how much has been sent; XMLHttpRequest can. */
function send<T extends object>(
  path: string,
  body: Blob,
  query: Readonly<Record<string, string>>,
  { file, signal, onProgress }: Sending,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', apiUrl(path, query))
    const isJson = /\.json$/i.test(file.name)
    request.setRequestHeader('content-type', isJson ? 'application/json' : 'application/octet-stream')
    request.responseType = 'json'
    request.upload.onprogress = (event) => event.lengthComputable && onProgress?.(event.loaded / event.total)
    request.onload = () => {
      const answer = request.response as (T & { error?: Partial<ProblemData> }) | null
      if (request.status === 200 && answer) resolve(answer)
      else reject(new ApiError(request.status, shown(answer?.error ?? {})))
    }
    request.onerror = () => reject(notReached())
    request.onabort = () => reject(new DOMException('Given up', 'AbortError'))
    signal.addEventListener('abort', () => request.abort())
    request.send(body)
  })
}

/** What the server says of a file, without the flags of the command line, which has the same sentences. */
export const withoutFlags = (text: string): string => text.replace(/ \(--[^)]+\)/g, '')
