// The owner's inbox: messages from the help page, and errors that browsers reported.

import { call } from '../api-client.ts'
import { ago } from '../format.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/ui.tsx'
import { rowFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { pageStyles as p, Show, useLoad } from '../frame/page.tsx'
import s from './settings.module.css'

const ERROR_FIELDS = rowFields('GET /api/errors', 'errors')

export function Inbox() {
  const tickets = useLoad(async (signal) => (await call('GET /api/support/tickets', { signal })).tickets, [])
  const errors = useLoad(async (signal) => (await call('GET /api/errors', { signal })).errors, [])
  return (
    <>
      <section>
        <h2>Messages</h2>
        <p>Written on the help page. Answer them by mail.</p>
        <Show of={tickets}>
          {(list) =>
            list.length === 0 ? (
              <Empty title="No messages" />
            ) : (
              <ul class={p['list']}>
                {list.map((one) => (
                  <li key={one.id} class={s.file}>
                    <div class={s.fileHead}>
                      <strong>{one.subject}</strong>
                      <span class="muted">
                        <a href={`mailto:${encodeURIComponent(one.email)}`}>{one.email}</a>,{' '}
                        {ago(one.createdAt)}
                      </span>
                    </div>
                    <p class={s.message}>{one.body}</p>
                  </li>
                ))}
              </ul>
            )
          }
        </Show>
      </section>
      <section>
        <h2>Errors in browsers</h2>
        <p>Reported by this page and by integrations, alike ones counted together. Only you see them.</p>
        <Show of={errors}>
          {(list) => (
            <DataTable
              label="Errors"
              rows={list}
              wire={ERROR_FIELDS}
              keyOf={(one) => one.id}
              empty={<Empty title="No errors">That is how it should be.</Empty>}
              columns={({ own }) => [
                own('message', 'Message', 'main', (one) => (
                  <>
                    <span title={one.message}>{one.message}</span>
                    <span class={p['cellNote']}>{textOf(one.sample['url'])}</span>
                  </>
                )),
                { of: 'count', head: 'Times' },
                { of: 'firstAt', head: 'First' },
                { of: 'lastAt', head: 'Last' },
              ]}
            />
          )}
        </Show>
      </section>
    </>
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
