// What axe-core finds on a page, as text.

import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

const AXE = readFileSync(`${import.meta.dir}/../../node_modules/axe-core/axe.min.js`, 'utf8')

interface Found {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

/**
 * `rule: element`, a line a violation; of `rules` (tags), else of all. What fades or changes its colour is between two
 * colours for a moment, so it is waited for.
 */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.waitForFunction(() =>
    document.getAnimations().every((one) => one.effect?.getComputedTiming().endTime === Infinity),
  )
  // It is handed to the page past its policy, as the developer tools are.
  const tools = await page.context().newCDPSession(page)
  await tools.send('Runtime.evaluate', { expression: `globalThis.axe ?? (() => { ${AXE} })()` })
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) })
  const { result } = await tools.send('Runtime.evaluate', {
    expression: `axe.run(document, ${options}).then(({ violations }) => JSON.stringify(violations))`,
    awaitPromise: true,
    returnByValue: true,
  })
  await tools.detach()
  const found = JSON.parse(String(result.value)) as readonly Found[]
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}
