// The help pages: the articles that come with Chartroom, searching them by a question, and writing to the owner.

import type { ArticleHead, ChatAnswer as Answer } from '../../wire/support.ts'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { href } from '../router.ts'
import { user } from '../session.ts'
import { Form, useForm } from '../ui/form.tsx'
import { Field, toast } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import s from './help.module.css'
import { SECTIONS } from './sections.ts'
import { Markdown } from '../ui/markdown-view.tsx'
import { Page, pageStyles as p, Show, useAnswer } from '../frame/page.tsx'
import { Section } from '../frame/section.tsx'

const CONTACT_FIELDS = bodyFields('POST /api/support/contact')
const QUESTION_FIELDS = bodyFields('POST /api/support/chat')

export function Help({ article }: { readonly article?: string }) {
  const list = useAnswer('GET /api/support/articles', {}, 'articles')
  if (article !== undefined) return <Reader id={article} list={list.data ?? []} />
  return (
    <Page title="Help">
      <Ask />
      <Show of={list}>{(articles) => <Contents articles={articles} />}</Show>
      <Contact />
    </Page>
  )
}

function Contents({ articles }: { readonly articles: readonly ArticleHead[] }) {
  const titleOf = new Map(articles.map((one) => [one.id, one.title]))
  return (
    <div class={s.contents}>
      {SECTIONS.map(([title, ids]) => (
        <Section key={title} title={title}>
          <ul>{ids.map((id) => titleOf.has(id) && linkTo(id, titleOf.get(id)))}</ul>
        </Section>
      ))}
    </div>
  )
}

const linkTo = (id: string, title: string | undefined) => (
  <li key={id}>
    <a href={href(`/help/${id}`)}>{title}</a>
  </li>
)

function Reader({ id, list }: { readonly id: string; readonly list: readonly ArticleHead[] }) {
  const loaded = useAnswer('GET /api/support/articles/{id}', { path: { id } }, 'article')
  const near = SECTIONS.find(([, ids]) => ids.includes(id))
  return (
    <Page title={loaded.data?.title ?? 'Help'} back={['/help', 'Help']} narrow>
      <Show of={loaded}>{(article) => <Markdown text={article.body} />}</Show>
      {near && (
        <Section class={p['section']} title={near[0]}>
          <ul class={s.near}>
            {near[1].map(
              (one) => one !== id && linkTo(one, list.find((two) => two.id === one)?.title ?? one),
            )}
          </ul>
        </Section>
      )}
    </Page>
  )
}

/** Answers a question with the articles that match its words; no text is generated. */
function Ask() {
  const [answers, setAnswers] = useState<readonly Answer[] | null>(null)
  const form = useForm({
    wire: QUESTION_FIELDS,
    start: { query: '' },
    async send({ query }) {
      setAnswers((await call('POST /api/support/chat', { body: { query: query.trim() } })).answers)
    },
  })
  const { query } = form.values
  useEffect(() => {
    if (query === '') setAnswers(null)
  }, [query])
  return (
    <div class={s.ask}>
      <Form of={form} action="Ask" variant="primary" role="search" class={s.askForm}>
        <Field
          label="Ask a question"
          placeholder="Why was my limit order not filled?"
          {...form.field('query')}
        />
      </Form>
      <div role="status">
        {answers?.length === 0 && (
          <p class="muted">No article fits. Try other words, or write to the owner of this server below.</p>
        )}
        {answers && answers.length > 0 && (
          <ol class={s.answers}>
            {answers.map((one) => (
              <li key={one.id}>
                <a href={href(`/help/${one.id}`)}>
                  <strong>{one.title}</strong>
                  <span>{one.excerpt}</span>
                </a>
              </li>
            ))}
          </ol>
        )}
      </div>
    </div>
  )
}

function Contact() {
  const [ticket, setTicket] = useState<string | null>(null)
  const form = useForm({
    wire: CONTACT_FIELDS,
    start: { email: user.value?.email ?? '', subject: '', body: '' },
    draft: 'message',
    clears: true,
    async send(body) {
      setTicket((await call('POST /api/support/contact', { body })).id)
      toast('Your message is there', { tone: 'up' })
    },
  })
  return (
    <Section class={p['section']} title="Write to the owner">
      <p>The message stays on this server, and is mailed to its owner if a mail server is set.</p>
      <Form
        of={form}
        action="Send"
        class={s.contact}
        beside={
          ticket && (
            <span class="muted">
              Kept as <code>{ticket}</code>
            </span>
          )
        }
      >
        <Field label="Your e-mail" {...form.field('email', { type: 'email' })} />
        <Field label="Subject" {...form.field('subject')} />
        <Field label="Message" rows={5} {...form.field('body')} />
      </Form>
    </Section>
  )
}
