// A separate process that asks the tortured server and an idle one for their health, side by side, until its input ends;
// then it prints how long each answer took. It is separate so that the torture's own work delays nothing that it measures.
//
//     bun src/tools/torture/probe.ts http://127.0.0.1:1 http://127.0.0.1:2

import process from 'node:process'

/** When the server was asked (UTC ms), and how long the answer took. */
export type Sample = readonly [at: number, ms: number]

const PAUSE_MS = 10
const GIVE_UP_MS = 300_000

async function ask(base: string, samples: Sample[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const at = Date.now()
    const started = performance.now()
    const signal = AbortSignal.timeout(GIVE_UP_MS)
    await fetch(`${base}/api/health`, { signal })
      .then((response) => response.text())
      .catch(() => null)
    samples.push([at, performance.now() - started])
    await Bun.sleep(PAUSE_MS)
  }
}

if (import.meta.main) {
  let over = false
  const all = process.argv.slice(2).map((base) => ({ base, samples: [] as Sample[] }))
  const asking = all.map(({ base, samples }) => ask(base, samples, () => over))
  await Bun.stdin.text()
  over = true
  await Promise.race([Promise.all(asking), Bun.sleep(1000)])
  console.log(JSON.stringify(all.map(({ samples }) => samples)))
  process.exit(0)
}
