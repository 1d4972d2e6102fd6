// A component whose code is fetched when it is first shown, with a placeholder, and a button to try again after a failure.
// What only adds to something that is there already (lines over a chart) has no placeholder: its absence keeps nobody waiting,
// and a busy mark would say that the chart is still coming.

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { Failure } from '../ui/ui.tsx'

/** What a browser could not fetch once it never asks for again in the same page: that is loaded anew, where the server answers. */
const loadAnew = (): Promise<void> => call('GET /api/health').then(() => location.reload())

let isTouched = false
for (const kind of ['pointerdown', 'keydown'])
  addEventListener(kind, () => (isTouched = true), { once: true })

/** Whether that may be done unasked: once, and before anybody has begun anything on the page. */
const mayLoadAnew = (): boolean =>
  !isTouched &&
  performance.getEntriesByType('navigation').every((one) => 'type' in one && one.type !== 'reload')

export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  { isAddition = false }: { readonly isAddition?: boolean } = {},
): ComponentType<P> {
  let loaded: ComponentType<P> | null = null
  return function Lazy(props: P) {
    const [, redraw] = useState(0)
    const [problem, setProblem] = useState<unknown>(null)
    const failed = (error: unknown) => {
      if (mayLoadAnew()) loadAnew().catch(() => setProblem(error))
      else setProblem(error)
    }
    useEffect(() => {
      if (loaded) return
      load().then((component) => {
        loaded = component
        redraw((n) => n + 1)
      }, failed)
    }, [])
    if (problem) return <Failure error={problem} onRetry={() => void loadAnew().catch(setProblem)} />
    const Component = loaded
    if (Component) return <Component {...props} />
    return isAddition ? null : <div aria-busy="true" />
  }
}
