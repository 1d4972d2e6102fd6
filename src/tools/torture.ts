// `bun run torture [--rounds N] [--seed S] [--only A,B] [--short] [--binary PATH]`: attacks the executable from outside, as
// the worst user, the worst disk and the worst moment to die would, and prints a table of what was done and found.
//
// It is for people who change the server: a finding says how to repeat it. Everything runs on 127.0.0.1 in temporary data
// directories. The seed decides what a section sends, but not when things happen.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import process from 'node:process'
import { commandLine, refused, wholeNumber } from './command-line.ts'
import { access } from './torture/access.ts'
import { channels } from './torture/channels.ts'
import { clocks } from './torture/clocks.ts'
import { copies } from './torture/copies.ts'
import { corrupt } from './torture/corrupt.ts'
import { crash } from './torture/crash.ts'
import { disk } from './torture/disk.ts'
import { fuzz } from './torture/fuzz.ts'
import { hostile } from './torture/hostile.ts'
import { power } from './torture/power.ts'
import type { Scene } from './torture/scene.ts'
import { endAll } from './torture/server.ts'
import { soak } from './torture/soak.ts'
import { starvation } from './torture/starvation.ts'
import { findingsOf, tableOf, Tally } from './torture/tally.ts'
import { worst } from './torture/worst.ts'

export const SECTIONS: Readonly<Record<string, (scene: Scene, tally: Tally) => Promise<void>>> = {
  crash,
  power,
  disk,
  hostile,
  worst,
  fuzz,
  starvation,
  corrupt,
  copies,
  clocks,
  soak,
  access,
  channels,
}

const HELP = `bun run torture [--rounds N] [--seed S] [--only A,B] [--short] [--binary PATH]

Attacks the executable and prints what was done and found. All of it takes about an hour.

  --only A,B      Some sections: ${Object.keys(SECTIONS).join(', ')}
  --rounds N      How often each section does what it does
  --short         A part of it, in a few minutes
  --seed S        The same requests again; a finding names its seed
  --binary PATH   Another executable than dist/chartroom`

/** The short run does one part in this many of a section's work. */
const SHORT_SHARE = 200

/** Runs the sections one after the other. */
export async function torture(
  scene: Omit<Scene, 'rounds'> & { readonly roundsWanted: number | null },
  only: readonly string[],
): Promise<Tally[]> {
  const rounds = (long: number) =>
    scene.roundsWanted ?? (scene.isShort ? Math.max(1, Math.round(long / SHORT_SHARE)) : long)
  const tallies: Tally[] = []
  for (const [name, section] of Object.entries(SECTIONS)) {
    if (only.length > 0 && !only.includes(name)) continue
    const tally = new Tally(name, scene.seed, scene.print)
    tallies.push(tally)
    const started = performance.now()
    scene.print(`${name} …`)
    try {
      await section({ ...scene, rounds }, tally)
    } catch (error) {
      tally.find(
        'the section broke off',
        error instanceof Error ? (error.stack ?? '') : String(error),
        'from the start',
      )
    } finally {
      await endAll()
    }
    scene.print(
      `${name}: ${tally.findings.length} findings in ${((performance.now() - started) / 1000).toFixed(0)} s`,
    )
  }
  return tallies
}

async function command(): Promise<boolean> {
  const { values } = commandLine(HELP, {
    rounds: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string' },
    binary: { type: 'string' },
    short: { type: 'boolean', default: false },
  })
  const roundsWanted = wholeNumber(HELP, 'rounds', values.rounds)
  const seed = wholeNumber(HELP, 'seed', values.seed) ?? Math.floor(Math.random() * 2 ** 31)
  const only = values.only?.split(',') ?? []
  const unknown = only.find((name) => !Object.hasOwn(SECTIONS, name))
  if (unknown !== undefined) refused(HELP, `There is no section "${unknown}".`)
  const binary = resolve(values.binary ?? `${import.meta.dir}/../../dist/chartroom`)
  if (!existsSync(binary)) refused(HELP, `There is no ${binary}. Build it with bun run build.`)
  const print = (line: string) => console.log(line)
  print(`seed ${seed}, ${binary}`)
  const tallies = await torture({ binary, seed, isShort: values.short, roundsWanted, print }, only)
  print(`\n${tableOf(tallies)}\n`)
  for (const line of findingsOf(tallies)) print(line)
  return tallies.every(({ findings }) => findings.length === 0)
}

if (import.meta.main) {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => void endAll().then(() => process.exit(1)))
  process.exitCode = (await command()) ? 0 : 1
}
