// The list of ideas beside the chart; those about the symbol on it come first.

import { call } from '../api-client.ts'
import { openDialog } from '../ui/dialogs.tsx'
import { Button, Empty } from '../ui/ui.tsx'
import { market } from '../workspace.ts'
import { IdeaCard, IdeaEditor } from './ideas.tsx'
import s from './ideas.module.css'
import { pageStyles as p, Show, useLoad } from '../frame/page.tsx'

export function IdeaDrawer() {
  const list = useLoad(async (signal) => {
    const [everybodys, mine] = await Promise.all(
      (['public', 'mine'] as const).map((feed) =>
        call('GET /api/platform/ideas', { query: { feed, limit: 100 }, signal }),
      ),
    )
    const all = new Map([...(everybodys?.ideas ?? []), ...(mine?.ideas ?? [])].map((idea) => [idea.id, idea]))
    return [...all.values()].toSorted((a, b) => b.createdAt - a.createdAt)
  }, [])
  const { symbol } = market.value
  const write = () => openDialog(<IdeaEditor idea={null} onSaved={list.reload} />)
  return (
    <>
      <div class={p['drawerHead']}>
        <span />
        <Button size="small" icon="plus" onClick={write}>
          Write one
        </Button>
      </div>
      <Show of={list}>
        {(ideas) => {
          if (ideas.length === 0)
            return (
              <Empty title="No ideas yet">
                Write down what you see on this chart. It may stay yours alone.
              </Empty>
            )
          const here = ideas.filter((idea) => idea.symbol === symbol)
          const others = ideas.filter((idea) => idea.symbol !== symbol)
          return (
            <div class={p['drawer']}>
              <ul class={`${s.feed} ${s.drawerCard}`}>
                {[...here, ...others].map((idea) => (
                  <li key={idea.id}>
                    <IdeaCard idea={idea} />
                  </li>
                ))}
              </ul>
            </div>
          )
        }}
      </Show>
    </>
  )
}
