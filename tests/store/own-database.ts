// For servers and commands that suites start: with `TEST_STORE=postgres bun test …`, each data directory has a database of
// its own instead.

import { SQL } from 'bun'
import { testPostgres } from './postgres-server.ts'

type Settings = Readonly<Record<string, string>>

export const isOnPostgres = process.env['TEST_STORE'] === 'postgres'

/** It ends with the process. */
const postgres = isOnPostgres ? await testPostgres() : null
const stores = new Map<string, Promise<Settings>>()

/** What those who are given that data directory are told of its store: nothing where it keeps its data itself. */
export function storeOf(directory: string): Promise<Settings> {
  const store = stores.get(directory) ?? newStore()
  stores.set(directory, store)
  return store
}

/** It keeps its data itself, whatever suites run on: they are what is tested. */
export function inFolder(directory: string): string {
  stores.set(directory, Promise.resolve({}))
  return directory
}

async function newStore(): Promise<Settings> {
  if (!postgres) return {}
  const name = `site_${crypto.randomUUID().replaceAll('-', '')}`
  const sql = new SQL(postgres.url, { max: 1 })
  await sql.unsafe(`create database ${name}`)
  await sql.close()
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  return { STORE: url.href }
}
