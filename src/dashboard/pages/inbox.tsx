// What the owner is told: messages from the help page, and errors that browsers reported.

import { call } from '../api-client.ts'
import { ago, count } from '../format.ts'
import { Empty, uiStyles as ui } from '../ui/ui.tsx'
import { pageStyles as p, Show, useLoad } from './page.tsx'
import s from './settings.module.css'

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
          {(list) =>
            list.length === 0 ? (
              <Empty title="No errors">That is how it should be.</Empty>
            ) : (
              <div class={p['scroll']} tabIndex={0} role="region" aria-label="Errors">
                <table class={ui['table']}>
                  <thead>
                    <tr>
                      <th>Message</th>
                      <th class={ui['right']}>Times</th>
                      <th>First</th>
                      <th>Last</th>
                    </tr>
                  </thead>
                  <tbody>
                    {list.map((one) => (
                      <tr key={one.id}>
                        <td class={p['cellMain']}>
                          <span title={one.message}>{one.message}</span>
                          <span class={p['cellNote']}>{textOf(one.sample['url'])}</span>
                        </td>
                        <td class={`num ${ui['right']}`}>{count(one.count)}</td>
                        <td class="muted">{ago(one.firstAt)}</td>
                        <td class="muted">{ago(one.lastAt)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )
          }
        </Show>
      </section>
    </>
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
