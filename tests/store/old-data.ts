// A data directory that the executable of version 0.1.0 made, and what that version answered about it.
//
// One owner with everything a user can have. Behind the recorded answers it was given series and a symbol with names
// outside ASCII, which that executable could store but never read again: СБЕР, 平安, 🚀, ÉTÉ once composed and once as
// letters with accents behind them, and a symbol's facts of É.

import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'

const fixture = `${import.meta.dir}/version-0.1.0`

export interface OldAnswers {
  readonly owner: { readonly email: string; readonly password: string; readonly name: string }
  /** The secret of an API token. */
  readonly token: string
  /** By path, of GET. */
  readonly answers: Readonly<Record<string, { readonly status: number; readonly json: unknown }>>
}

export const oldAnswers = (): OldAnswers =>
  JSON.parse(Bun.zstdDecompressSync(readFileSync(`${fixture}/answers.json.zst`)).toString()) as OldAnswers

/** A fresh copy. */
export function oldDataFolder(folder = mkdtempSync(`${tmpdir()}/chartroom-old-`)): string {
  mkdirSync(`${folder}/db`, { recursive: true })
  writeFileSync(`${folder}/db/data.mdb`, Bun.zstdDecompressSync(readFileSync(`${fixture}/data.mdb.zst`)))
  copyFileSync(`${fixture}/instance.key`, `${folder}/instance.key`)
  return folder
}
