// Of tables in Parquet and Arrow the package knows no more than their names.

import type { Table } from '../../market/files/table.ts'
import { refused } from './unpack.ts'

export function isArrow(first: Uint8Array): boolean {
  return new TextDecoder().decode(first.subarray(0, 6)) === 'ARROW1'
}

function refuse(): never {
  throw refused('this is a table of Parquet or Arrow, which the package does not read; write it as CSV')
}

export const arrowTable = (): Promise<Table> => refuse()
export const parquetTable = (): Promise<Table> => refuse()
export const wholeOf = (): Promise<never> => refuse()
export const slicesOf = (): never => refuse()
