// Ideas: the public feed, one's own, the reader, and writing one.

import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { ago } from '../format.ts'
import { href, navigate } from '../router.ts'
import { copyText } from '../ui/copy-text.ts'
import { Menu } from '../ui/menu.tsx'
import { Badge, Button, Dialog, Empty, Field, Select, toast, uiStyles as ui } from '../ui/ui.tsx'
import { market } from '../workspace.ts'
import s from './ideas.module.css'
import type { Idea } from '../../wire/idea.ts'
import { Markdown } from './markdown-view.tsx'
import { plainText } from './markdown.ts'
import {
  Check,
  Confirm,
  FormProblem,
  Page,
  pageStyles as p,
  problemAt,
  Segments,
  Show,
  useLoad,
  useSubmit,
} from './page.tsx'
import { showOnChart } from './show-on-chart.ts'

export type { Idea }

const VISIBILITIES = [
  ['public', 'Everybody on this server'],
  ['unlisted', 'Whoever has the link'],
  ['private', 'Only me'],
] as const

export function Ideas({ id }: { readonly id?: string }) {
  return id === undefined ? <Feed /> : <Reader key={id} id={id} />
}

function Feed() {
  const [feed, setFeed] = useState<'public' | 'mine'>('public')
  const [writing, setWriting] = useState(false)
  const list = useLoad(
    async (signal) => (await call('GET /api/platform/ideas', { query: { feed }, signal })).ideas,
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
            options={[
              ['public', 'Everybody'],
              ['mine', 'Mine'],
            ]}
            onChange={setFeed}
          />
          <Button variant="primary" icon="plus" onClick={() => setWriting(true)}>
            Write one
          </Button>
        </>
      }
      narrow
    >
      <Show of={list}>
        {(ideas) =>
          ideas.length === 0 ? (
            <Empty title={feed === 'public' ? 'Nobody has published one yet' : 'You have written none yet'}>
              Write down what you see, with the chart or a backtest beside it. It may stay yours alone.
            </Empty>
          ) : (
            <ul class={s.feed}>
              {ideas.map((idea) => (
                <li key={idea.id}>
                  <IdeaCard idea={idea} />
                </li>
              ))}
            </ul>
          )
        }
      </Show>
      {writing && (
        <IdeaEditor
          idea={null}
          onClose={() => setWriting(false)}
          onSaved={(saved) => navigate(`/ideas/${saved.id}`)}
        />
      )}
    </Page>
  )
}

export function IdeaCard({ idea }: { readonly idea: Idea }) {
  return (
    <a class={s.card} href={href(`/ideas/${idea.id}`)}>
      <h2>{idea.title}</h2>
      <p>{plainText(idea.body, 220)}</p>
      <Byline idea={idea} />
    </a>
  )
}

function Byline({ idea }: { readonly idea: Idea }) {
  return (
    <div class={p['byline']}>
      <span>{idea.author}</span>
      <span>{ago(idea.createdAt)}</span>
      {idea.symbol && (
        <span class="num">
          {idea.exchange ? `${idea.exchange}:` : ''}
          {idea.symbol} {idea.interval}
        </span>
      )}
      {idea.visibility !== 'public' && <Badge tone="warn">{idea.visibility}</Badge>}
      {idea.tags.map((tag) => (
        <Badge key={tag}>{tag}</Badge>
      ))}
    </div>
  )
}

function Reader({ id }: { readonly id: string }) {
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null)
  const loaded = useLoad(
    async (signal) => (await call('GET /api/platform/ideas/{id}', { path: { id }, signal })).idea,
    [id],
  )
  const idea = loaded.data
  const { symbol, exchange, interval } = idea ?? {}
  return (
    <Page
      title={idea?.title ?? 'Idea'}
      back={['/ideas', 'Ideas']}
      narrow
      about={idea && <Byline idea={idea} />}
      actions={
        idea && (
          <>
            {symbol && exchange && interval && (
              <Button icon="candles" onClick={() => showOnChart({ symbol, exchange, interval })}>
                Chart
              </Button>
            )}
            {idea.backtestId && idea.mine && (
              <Button icon="report" onClick={() => navigate(`/backtests/${idea.backtestId}`)}>
                Backtest
              </Button>
            )}
            <Menu
              label="More for this idea"
              items={[
                {
                  text: 'Copy the link',
                  icon: 'copy',
                  disabled: idea.visibility === 'private',
                  run: () => copyText(location.href, 'Link copied'),
                },
                ...(idea.mine
                  ? ([
                      { text: 'Edit', icon: 'code', run: () => setDialog('edit') },
                      '-',
                      { text: 'Delete', icon: 'trash', danger: true, run: () => setDialog('delete') },
                    ] as const)
                  : []),
              ]}
            />
          </>
        )
      }
    >
      <Show of={loaded}>
        {(shown) => (
          <>
            <Markdown text={shown.body} />
            {dialog === 'edit' && (
              <IdeaEditor
                idea={shown}
                onClose={() => setDialog(null)}
                // One that was public and became unlisted has a new address.
                onSaved={(saved) => (saved.id === id ? loaded.reload() : navigate(`/ideas/${saved.id}`))}
              />
            )}
            {dialog === 'delete' && (
              <Confirm
                title="Delete this idea?"
                action="Delete idea"
                onClose={() => setDialog(null)}
                onConfirm={async () => {
                  await call('DELETE /api/platform/ideas/{id}', { path: { id: shown.id } })
                  navigate('/ideas')
                }}
              >
                Links to it lead nowhere then.
              </Confirm>
            )}
          </>
        )}
      </Show>
    </Page>
  )
}

interface IdeaEditorProps {
  readonly idea: Idea | null
  readonly onClose: () => void
  readonly onSaved: (idea: Idea) => void
}

export function IdeaEditor({ idea, onClose, onSaved }: IdeaEditorProps) {
  const [title, setTitle] = useState(idea?.title ?? '')
  const [body, setBody] = useState(idea?.body ?? '')
  const [tags, setTags] = useState(idea?.tags.join(', ') ?? '')
  const [visibility, setVisibility] = useState<Idea['visibility']>(idea?.visibility ?? 'public')
  const [withChart, setWithChart] = useState(idea ? idea.symbol !== null : true)
  const [tab, setTab] = useState<'write' | 'preview'>('write')
  const place = idea?.symbol ? idea : market.value
  const { busy, error, submit } = useSubmit(async () => {
    const list = tags.split(',').map((tag) => tag.trim())
    const { symbol, exchange, interval } = place
    const fields = {
      title: title.trim(),
      body,
      tags: [...new Set(list.filter((tag) => tag !== ''))],
      visibility,
      symbol: withChart ? symbol : null,
      exchange: withChart ? exchange : null,
      interval: withChart ? interval : null,
    }
    const answer = idea
      ? await call('PATCH /api/platform/ideas/{id}', { path: { id: idea.id }, body: fields })
      : await call('POST /api/platform/ideas', { body: fields })
    toast(idea ? 'Saved' : visibility === 'public' ? 'Published' : 'Saved', { tone: 'up' })
    onSaved(answer.idea)
    onClose()
  })
  return (
    <Dialog
      title={idea ? 'Edit the idea' : 'New idea'}
      onClose={onClose}
      width={720}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" disabled={busy} onClick={submit}>
            {idea ? 'Save' : visibility === 'public' ? 'Publish' : 'Save'}
          </Button>
        </>
      }
    >
      <div class={p['form']}>
        <Field
          label="Title"
          value={title}
          onInput={setTitle}
          autofocus
          problem={problemAt(error, '/title')}
        />
        <div class={s.editorHead}>
          <Segments
            label="Write or preview"
            value={tab}
            options={[
              ['write', 'Write'],
              ['preview', 'Preview'],
            ]}
            onChange={setTab}
          />
          <span class="muted">**bold** *italic* `code` # heading - list &gt; quote [text](link)</span>
        </div>
        {tab === 'write' ? (
          <textarea
            class={ui['input']}
            rows={12}
            aria-label="Text"
            value={body}
            onInput={(event) => setBody(event.currentTarget.value)}
          />
        ) : (
          <div class={s.preview}>
            {body.trim() === '' ? <p class="muted">Nothing to see yet.</p> : <Markdown text={body} />}
          </div>
        )}
        {problemAt(error, '/body') && <span class="down">{problemAt(error, '/body')}</span>}
        <div class={p['row']}>
          <Field
            label="Tags"
            value={tags}
            onInput={setTags}
            hint="Separated by commas."
            problem={problemAt(error, '/tags')}
          />
          <Select
            label="Who may read it"
            value={visibility}
            options={VISIBILITIES}
            onChange={setVisibility}
          />
        </div>
        <Check checked={withChart} onChange={setWithChart}>
          About {place.exchange}:{place.symbol} {place.interval}
        </Check>
        <FormProblem error={error} paths={['/title', '/body', '/tags']} />
      </div>
    </Dialog>
  )
}
