// The pages of ideas: the public feed, the caller's own, reading one, and the form for writing one.

import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { ago, intervalText } from '../format.ts'
import { openReport } from '../open-report.ts'
import { href, navigate } from '../router.ts'
import { visiting } from '../session.ts'
import { copyText } from '../ui/copy-text.ts'
import { openDialog } from '../ui/dialogs.tsx'
import { item, Menu, type MenuItems } from '../ui/menu.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Badge, Button, Empty, Field, Select, toast, uiStyles as ui } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { market } from '../workspace.ts'
import s from './ideas.module.css'
import type { Idea } from '../../wire/idea.ts'
import { Markdown } from '../ui/markdown-view.tsx'
import { plainText } from '../../lib/markdown.ts'
import {
  attempt,
  Check,
  Page,
  pageStyles as p,
  Show,
  useLoad,
  Listed,
  usePages,
  useAnswer,
} from '../frame/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { lazy } from '../frame/lazy.tsx'
import { showOnChart } from '../frame/show-on-chart.ts'
import { buttons, deletion } from '../ui/buttons.tsx'

const PublishedBacktest = lazy(async () => (await import('./snapshot.tsx')).PublishedBacktest)

const WIRE_FIELDS = bodyFields('POST /api/platform/ideas')
/** Enter in the title must not publish an idea before it is written: what the API lets be empty, the form does not. */
const BODY_FIELDS = { ...WIRE_FIELDS, body: { ...WIRE_FIELDS['body'], min: 1, required: true } }
const NOWHERE = { symbol: null, exchange: null, interval: null }
const VISIBILITIES = [
  ['public', 'Everybody, in lists and search'],
  ['unlisted', 'Anybody with the link'],
  ['private', 'Only me'],
] as const

export function Ideas({ id }: { readonly id?: string }) {
  return id === undefined ? <Feed /> : <Reader id={id} />
}

function Feed() {
  const [feed, setFeed] = useState<'public' | 'mine'>('public')
  const list = usePages(
    'ideas',
    ({ query, signal }) => call('GET /api/platform/ideas', { query: { ...query, feed }, signal }),
    [feed],
  )
  return (
    <Page
      title="Ideas"
      about="What you and others on this server think of a market, a script or a result."
      actions={
        <>
          <Segments
            label="Whose ideas"
            value={feed}
            options={{ public: 'Everybody', mine: 'Mine' }}
            onChange={setFeed}
          />
          {buttons([item('Write one', 'plus', () => write({}), { primary: true })])}
        </>
      }
      narrow
    >
      <Listed
        of={list}
        label="Ideas"
        class={s.feed}
        empty={
          <Empty
            title={feed === 'public' ? 'Nobody has published one yet' : 'You have written none yet'}
            action={<Button onClick={() => write(EXAMPLE)}>Begin with an example</Button>}
          >
            Write down what you see, with the chart or a backtest beside it. It may stay yours alone.
          </Empty>
        }
      >
        {(idea) => (
          <li key={idea.id}>
            <IdeaCard idea={idea} />
          </li>
        )}
      </Listed>
    </Page>
  )
}

const write = (start: Partial<IdeaDraft>): void =>
  openDialog(<IdeaEditor idea={null} start={start} onSaved={(saved) => navigate(`/ideas/${saved.id}`)} />)

export const IdeaCard = ({ idea }: { readonly idea: Idea }) => (
  <a class={s.card} href={href(`/ideas/${idea.id}`)}>
    <h2>{idea.title}</h2>
    <p>{plainText(idea.body, 220)}</p>
    <Byline idea={idea} />
  </a>
)

const Byline = ({ idea }: { readonly idea: Idea }) => (
  <div class={p['byline']}>
    <span>{idea.author}</span>
    <span>{ago(idea.createdAt)}</span>
    {idea.symbol && (
      <span class="num">
        {idea.exchange ? `${idea.exchange}:` : ''}
        {idea.symbol} {intervalText(idea.interval ?? '')}
      </span>
    )}
    {idea.mine && idea.visibility !== 'public' && <Badge tone="warn">{idea.visibility}</Badge>}
    {idea.tags.map((tag) => (
      <Badge key={tag}>{tag}</Badge>
    ))}
  </div>
)

async function publish({ id }: Idea): Promise<void> {
  await call('PUT /api/platform/ideas/{id}/snapshot', { path: { id }, body: {} })
  toast('Published with the idea', { tone: 'up' })
}

async function takeBack({ id }: Idea): Promise<void> {
  await call('DELETE /api/platform/ideas/{id}/snapshot', { path: { id } })
  toast('Nobody sees the backtest any more')
}

function Reader({ id }: { readonly id: string }) {
  const loaded = useAnswer('GET /api/platform/ideas/{id}', { path: { id } }, 'idea')
  const idea = loaded.data
  return (
    <Page
      title={idea?.title ?? 'Idea'}
      {...(visiting() ? {} : { back: ['/ideas', 'Ideas'] as const })}
      narrow={!idea?.snapshot}
      about={idea && <Byline idea={idea} />}
      actions={idea && <Actions idea={idea} onChanged={loaded.reload} />}
    >
      <Show of={loaded}>
        {(shown) => (
          <>
            <Markdown text={shown.body} />
            {shown.snapshot && <PublishedBacktest key={shown.snapshot.publishedAt} id={shown.id} />}
          </>
        )}
      </Show>
    </Page>
  )
}

const edit = (idea: Idea, onChanged: () => void): void =>
  openDialog(
    <IdeaEditor
      idea={idea}
      // A public idea gets a new address when it becomes unlisted.
      onSaved={(saved) => (saved.id === idea.id ? onChanged() : navigate(`/ideas/${saved.id}`))}
    />,
  )

function Actions({ idea, onChanged }: { idea: Idea; onChanged: () => void }) {
  const { symbol, exchange, interval, backtestId, mine, snapshot, visibility } = idea
  const again = snapshot ? 'Publish the backtest again' : 'Publish the backtest'
  const own: MenuItems = [
    item('Edit', 'code', () => edit(idea, onChanged)),
    backtestId && item(again, 'report', () => attempt(publish(idea), onChanged)),
    snapshot && item('Take the backtest back', 'close', () => attempt(takeBack(idea), onChanged)),
    '-',
    deletion({
      title: 'Delete this idea?',
      text: 'Links to it lead nowhere then.',
      action: 'Delete idea',
      async run() {
        await call('DELETE /api/platform/ideas/{id}', { path: { id: idea.id } })
        navigate('/ideas')
      },
    }),
  ]
  return (
    <>
      {buttons([
        !visiting() &&
          symbol &&
          exchange &&
          interval &&
          item('Chart', 'candles', () => showOnChart({ symbol, exchange, interval })),
        backtestId && mine && item('Backtest', 'report', () => attempt(openReport(backtestId))),
      ])}
      <Menu
        label="More for this idea"
        items={[
          item('Copy the link', 'copy', () => copyText(location.href, 'Link copied'), {
            disabled: visibility === 'private',
          }),
          ...(mine ? own : []),
        ]}
      />
    </>
  )
}

interface IdeaDraft extends Pick<Idea, 'title' | 'body' | 'visibility'> {
  readonly tags: string
  readonly withChart: boolean
}

/** What an idea is for: what one sees, what would prove it wrong, and by when. */
const EXAMPLE: Partial<IdeaDraft> = {
  title: 'What I expect here, and what would prove me wrong',
  body: '**What I see.** The last highs lie above each other, and each fall was bought.\n\n**What I expect.** Another high within a month.\n\n**What would prove me wrong.** A close below the last low.',
  visibility: 'private',
}

interface IdeaEditorProps {
  readonly idea: Idea | null
  /** What a new one begins with. */
  readonly start?: Partial<IdeaDraft>
  readonly onSaved: (idea: Idea) => void
}

export function IdeaEditor({ idea, start, onSaved }: IdeaEditorProps) {
  const [tab, setTab] = useState<'write' | 'preview'>('write')
  const place = idea?.symbol ? idea : market.value
  const form = useForm<IdeaDraft>({
    wire: BODY_FIELDS,
    start: {
      title: idea?.title ?? '',
      body: idea?.body ?? '',
      tags: idea?.tags.join(', ') ?? '',
      visibility: idea?.visibility ?? 'public',
      withChart: idea ? idea.symbol !== null : true,
      ...start,
    },
    draft: `idea.${idea?.id ?? 'new'}`,
    async send({ title, body, tags, visibility, withChart }) {
      const { symbol, exchange, interval } = withChart ? place : NOWHERE
      const list = tags.split(',').map((tag) => tag.trim())
      const texts = { title: title.trim(), body, tags: [...new Set(list.filter((tag) => tag !== ''))] }
      const fields = { ...texts, visibility, symbol, exchange, interval }
      const answer = idea
        ? await call('PATCH /api/platform/ideas/{id}', { path: { id: idea.id }, body: fields })
        : await call('POST /api/platform/ideas', { body: fields })
      toast(idea || visibility !== 'public' ? 'Saved' : 'Published', { tone: 'up' })
      onSaved(answer.idea)
    },
  })
  const { body, visibility } = form.values
  return (
    <FormDialog
      of={form}
      title={idea ? 'Edit the idea' : 'New idea'}
      action={idea || visibility !== 'public' ? 'Save' : 'Publish'}
      width={720}
    >
      <Field label="Title" autofocus {...form.field('title')} />
      <div class={s.editorHead}>
        <Segments
          label="Write or preview"
          value={tab}
          options={{ write: 'Write', preview: 'Preview' }}
          onChange={setTab}
        />
        <span class="muted">**bold** *italic* `code` # heading - list &gt; quote [text](link)</span>
      </div>
      {tab === 'write' ? (
        <textarea
          class={ui['input']}
          rows={12}
          name="body"
          aria-label="Text"
          value={body}
          onInput={(event) => form.set('body', event.currentTarget.value)}
        />
      ) : (
        <div class={s.preview}>
          {body.trim() === '' ? <p class="muted">Nothing to see yet.</p> : <Markdown text={body} />}
        </div>
      )}
      {form.problem('body') && <span class="down">{form.problem('body')}</span>}
      <div class={s.about}>
        <Field label="Tags" hint="Separated by commas." {...form.field('tags')} />
        <Select label="Who may read it" options={VISIBILITIES} {...form.choice('visibility')} />
      </div>
      <Check checked={form.values.withChart} onChange={(on) => form.set('withChart', on)}>
        About {place.exchange}:{place.symbol} {intervalText(place.interval ?? '')}
      </Check>
    </FormDialog>
  )
}

/** The list beside the chart; those about the symbol on it come first. */
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
        {buttons([item('Write one', 'plus', write)], 'small')}
      </div>
      <Show of={list}>
        {(ideas) => {
          if (ideas.length === 0)
            return (
              <Empty title="No ideas yet">
                Write down what you see on this chart. It may stay yours alone.
              </Empty>
            )
          const isElsewhere = (idea: Idea) => Number(idea.symbol !== symbol)
          return (
            <div class={p['drawer']}>
              <ul class={`${s.feed} ${s.drawerCard}`}>
                {ideas
                  .toSorted((a, b) => isElsewhere(a) - isElsewhere(b))
                  .map((idea) => (
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
