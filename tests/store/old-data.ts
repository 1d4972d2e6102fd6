// Data directories that the executables of earlier versions made, and what those answered about them: one owner with
// everything that a user could have by then. `make-old-data.ts` makes them.
//
// Behind the recorded answers, that of 0.1.0 was given series and a symbol with names outside ASCII, which that executable
// could store but never read again: СБЕР, 平安, 🚀, ÉTÉ once composed and once as letters with accents behind them, and a
// symbol's facts of É.

import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'

export const OLD_VERSIONS = ['0.1.0', '0.2.0'] as const
type OldVersion = (typeof OLD_VERSIONS)[number]

const fixture = (version: OldVersion) => `${import.meta.dir}/version-${version}`

export interface OldAnswers {
  readonly owner: { readonly email: string; readonly password: string; readonly name: string }
  /** The secret of an API token. */
  readonly token: string
  /** By path, of GET. */
  readonly answers: Readonly<Record<string, { readonly status: number; readonly json: unknown }>>
}

export const oldAnswers = (version: OldVersion): OldAnswers =>
  JSON.parse(
    Bun.zstdDecompressSync(readFileSync(`${fixture(version)}/answers.json.zst`)).toString(),
  ) as OldAnswers

/** A fresh copy. */
export function oldDataFolder(
  folder = mkdtempSync(`${tmpdir()}/chartroom-old-`),
  version: OldVersion = '0.1.0',
): string {
  mkdirSync(`${folder}/db`, { recursive: true })
  writeFileSync(
    `${folder}/db/data.mdb`,
    Bun.zstdDecompressSync(readFileSync(`${fixture(version)}/data.mdb.zst`)),
  )
  copyFileSync(`${fixture(version)}/instance.key`, `${folder}/instance.key`)
  return folder
}
