import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { chartroom, temporaryFolder } from './run.ts'

const folder = `${import.meta.dir}/../../data/samples`
const data = temporaryFolder()

test.each(
  readdirSync(folder)
    .filter((file) => file.endsWith('.pine'))
    .sort(),
)('the sample %s compiles, runs and trades on the S&P 500', async (name) => {
  const { out } = await chartroom(
    data,
    'check',
    `${folder}/${name}`,
    '--symbol',
    'SP:SPX',
    '--interval',
    '1d',
    '--jsonl',
  )
  const result = JSON.parse(out) as { kind: string; ran: boolean; trades: number; diagnostics: unknown[] }
  expect(result).toMatchObject({ version: 6, compiled: true, ran: true, diagnostics: [] })
  if (result.kind === 'strategy') expect(result.trades).toBeGreaterThan(5)
})
