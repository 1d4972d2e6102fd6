// For servers that suites start: with `TEST_STORE=postgres bun test …`, each serves from a database of its own.

import { SQL } from 'bun'
import { testPostgres } from './postgres-server.ts'

/** It ends with the process. */
const postgres = process.env['TEST_STORE'] === 'postgres' ? await testPostgres() : null

/** What a server is told of its store: nothing where it keeps its folder. */
export async function storeSettings(): Promise<Readonly<Record<string, string>>> {
  if (!postgres) return {}
  const name = `site_${crypto.randomUUID().replaceAll('-', '')}`
  const sql = new SQL(postgres.url, { max: 1 })
  await sql.unsafe(`create database ${name}`)
  await sql.close()
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  return { STORE: url.href }
}
