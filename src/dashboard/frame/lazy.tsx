// A component whose code is fetched when it is first shown, with a placeholder, and a button to try again after a failure.
// What only adds to something that is there already (lines over a chart) has no placeholder: its absence keeps nobody waiting,
// and a busy mark would say that the chart is still coming.

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure } from '../ui/ui.tsx'

export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  { isAddition = false }: { readonly isAddition?: boolean } = {},
): ComponentType<P> {
  let loaded: ComponentType<P> | null = null
  return function Lazy(props: P) {
    const [, redraw] = useState(0)
    const [problem, setProblem] = useState<unknown>(null)
    const attempt = () => {
      setProblem(null)
      load().then(
        (component) => {
          loaded = component
          redraw((n) => n + 1)
        },
        (error: unknown) => setProblem(error),
      )
    }
    useEffect(() => {
      if (!loaded) attempt()
    }, [])
    if (problem) return <Failure error={problem} onRetry={attempt} />
    const Component = loaded
    if (Component) return <Component {...props} />
    return isAddition ? null : <div aria-busy="true" />
  }
}
