// Compares the answering times of a server under attack with those of an idle one on the same machine at the same time.
// Delays of both are the machine's doing; delays of the first alone are ours.

import type { Sample } from './probe.ts'
import { percentile, type Tally } from './tally.ts'

/** The limit: how much later than the idle control the server's health may answer. */
const LATER_MAX_MS = 100
const LATER_P99_MS = 20
/** A busy moment of the machine shows in the control within this time. */
const NEAR_MS = 500

export class Pulse {
  readonly #probe: Bun.Subprocess<'pipe', 'pipe', 'inherit'>

  constructor(attacked: string, control: string) {
    this.#probe = Bun.spawn([process.execPath, `${import.meta.dir}/probe.ts`, attacked, control], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    })
  }

  async stop(): Promise<Felt> {
    await this.#probe.stdin.end()
    const text = await new Response(this.#probe.stdout).text()
    const [attacked = [], control = []] = JSON.parse(text) as Sample[][]
    return new Felt(attacked, control)
  }
}

/** The samples that were taken. */
export class Felt {
  readonly attacked: readonly Sample[]
  readonly control: readonly Sample[]

  constructor(attacked: readonly Sample[], control: readonly Sample[]) {
    this.attacked = attacked
    this.control = control
  }

  /** By how much the latest answer in a stretch exceeded the control's worst one near it. */
  laterIn(from: number, to: number): number {
    return this.attacked
      .filter(([at, ms]) => at + ms >= from && at <= to)
      .reduce((most, sample) => Math.max(most, this.#later(sample)), 0)
  }

  #later([at, ms]: Sample): number {
    const near = this.control.filter(
      ([when, took]) => when + took >= at - NEAR_MS && when <= at + ms + NEAR_MS,
    )
    return ms - Math.max(0, ...near.map(([, took]) => took))
  }

  /** Adds findings and figures of a section; `attacks` says who attacked when. */
  judge(tally: Tally, attacks: readonly Attack[]): void {
    for (const { name, from, to, step } of attacks) {
      const later = this.laterIn(from, to)
      if (later > LATER_MAX_MS) tally.find('health was delayed', `${later.toFixed(0)} ms by ${name}`, step)
    }
    const [p99, idleP99] = [this.attacked, this.control].map((all) =>
      percentile(
        all.map(([, ms]) => ms),
        0.99,
      ),
    )
    const worst = attacks.reduce((most, { from, to }) => Math.max(most, this.laterIn(from, to)), 0)
    tally.figure('health p99', `${p99?.toFixed(1)} ms (idle control ${idleP99?.toFixed(1)} ms)`)
    tally.figure('latest over the control', `${worst.toFixed(0)} ms`)
    if ((p99 ?? 0) - (idleP99 ?? 0) > LATER_P99_MS)
      tally.find(
        'health is slow',
        `p99 ${p99?.toFixed(1)} ms, control ${idleP99?.toFixed(1)} ms`,
        'throughout',
      )
  }
}

export interface Attack {
  readonly name: string
  /** UTC ms. */
  readonly from: number
  readonly to: number
  readonly step: string
}
