// The building blocks of pages: a head, data that loads, secrets, confirmations of what cannot be undone.

import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Answer, Args, OperationName } from '../../wire/operations.ts'
import { call } from '../api-client.ts'
import { href } from '../router.ts'
import { canAskAgain, unreachable } from '../session.ts'
import { copyText } from '../ui/copy-text.ts'
import { openDialog, useClose } from '../ui/dialogs.tsx'
import { FormProblem, useForm } from '../ui/form.tsx'
import { Icon } from '../ui/icon.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Button, cx, Failure, Skeleton, toastError, IconButton, uiStyles as ui } from '../ui/ui.tsx'
import s from './page.module.css'

interface PageProps {
  readonly title: string
  readonly about?: ComponentChildren
  readonly actions?: ComponentChildren
  /** A link above the title to the page that this one belongs to. */
  readonly back?: readonly [to: string, text: string]
  readonly narrow?: boolean
  readonly children: ComponentChildren
}

export function Page({ title, about, actions, back, narrow, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Chartroom`
    return () => {
      document.title = 'Chartroom'
    }
  }, [title])
  return (
    <div class={cx(s.page, narrow && s.narrow)}>
      {back && (
        <a class={s.back} href={href(back[0])}>
          <Icon name="chevron" size={14} />
          {back[1]}
        </a>
      )}
      <Panel title={<h1>{title}</h1>} about={about} actions={actions}>
        {children}
      </Panel>
    </div>
  )
}

interface PanelProps extends Pick<PageProps, 'about' | 'actions' | 'children'> {
  readonly title?: ComponentChildren
}

/** One tab of a place: what it is for, and beside it what can be added. */
export const Panel = ({ title, about, actions, children }: PanelProps) => (
  <>
    <div class={s.head}>
      <div>
        {title}
        {about && <p>{about}</p>}
      </div>
      {actions && <div class={s.actions}>{actions}</div>}
    </div>
    {children}
  </>
)

export interface Loaded<T> {
  readonly data: T | null
  readonly error: unknown
  /** Fetches again. The old data stays until the answer is there. */
  readonly reload: () => void
}

/** Asks again every `ms` while the loaded data is still changing. */
export function useReloadWhile(waits: boolean, { reload }: { reload: () => void }, ms: number): void {
  useEffect(() => {
    if (!waits) return undefined
    const timer = setInterval(reload, ms)
    return () => clearInterval(timer)
  }, [waits, reload, ms])
}

interface LoadOptions {
  /** What was loaded for other keys is another thing: it is not shown until the answer is there. */
  readonly ofOne?: boolean
}

/**
 * Loads again when `keys` change, and drops what is still to come for those before. An answer that is on its way when somebody
 * asks again is shown, and then it is asked again: events that come faster than answers would else put off every one of them.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
  { ofOne = false }: LoadOptions = {},
): Loaded<T> {
  /** Another one for other keys. */
  const of = useMemo(() => ({ isBusy: false, isOwed: false }), keys)
  const now = useRef(of)
  now.current = of
  const [loaded, setLoaded] = useState({ of, data: null as T | null, error: null as unknown })
  const [round, setRound] = useState(0)
  useEffect(() => {
    const abort = new AbortController()
    const settle = (answer: { data: T; error: null } | { error: unknown }) => {
      if (abort.signal.aborted) return
      setLoaded((before) => ({ of, data: before.of === of ? before.data : null, ...answer }))
      of.isBusy = false
      if (of.isOwed) setRound((n) => n + 1)
    }
    Object.assign(of, { isBusy: true, isOwed: false })
    load(abort.signal).then(
      (data) => settle({ data, error: null }),
      (error: unknown) => settle({ error }),
    )
    return () => abort.abort()
  }, [of, round])
  const reload = useCallback(() => {
    if (now.current.isBusy) now.current.isOwed = true
    else setRound((n) => n + 1)
  }, [])
  // What could not be asked for is asked once the server is there again.
  useEffect(() => {
    if (canAskAgain(loaded.error)) reload()
  }, [unreachable.value, loaded.error])
  const isOther = loaded.of !== of
  return { data: isOther && ofOne ? null : loaded.data, error: isOther ? null : loaded.error, reload }
}

type PartOf<A, P> = P extends keyof A ? A[P] : A

/** The answer of an operation, or a part of it, asked again when `args` change. */
export function useAnswer<K extends OperationName, P extends keyof Answer<K> | undefined = undefined>(
  operation: K,
  args: Args<K>,
  part?: P,
): Loaded<PartOf<Answer<K>, P>> {
  const ask = call as (operation: K, args: object) => Promise<Answer<K>>
  return useLoad(
    async (signal) => {
      const answer = await ask(operation, { ...args, signal })
      return (part === undefined ? answer : answer[part as keyof Answer<K>]) as PartOf<Answer<K>, P>
    },
    [operation, JSON.stringify(args)],
    { ofOne: true },
  )
}

/** The pages of a list that were asked for so far. */
export interface Paged<T> {
  readonly items: readonly T[]
  /** Asks for the next page; undefined = there is none. */
  readonly onMore: (() => void) | undefined
}

export type PageOf<N extends string> = { readonly nextCursor: string | null } & {
  readonly [name in N]: readonly unknown[]
}
export type LoadPage<A> = (asked: {
  readonly query: { readonly limit: number; readonly cursor?: string }
  readonly signal: AbortSignal
}) => Promise<A>

/** So many pages of a list, by its name in the answer, and where the next one begins: null = there is none. */
export async function readPages<N extends string, A extends PageOf<N>>(
  name: N,
  load: (query: { readonly limit: number; readonly cursor?: string }) => Promise<A>,
  { limit = PAGE_ITEMS, pages = Infinity } = {},
) {
  const items: A[N][number][] = []
  let next: string | null = null
  for (let page = 0; page < pages && (page === 0 || next !== null); page++) {
    const loaded: A = await load({ limit, ...(next !== null && { cursor: next }) })
    items.push(...loaded[name])
    next = loaded.nextCursor
  }
  return { items, next }
}

/**
 * A list of the server, by its name in the answer, page by page. Loading again, when `keys` change or something asks for
 * it, loads as many pages as are shown, so that what was added or removed in front shifts nothing out of sight.
 */
export function usePages<N extends string, A extends PageOf<N>>(
  name: N,
  load: LoadPage<A>,
  keys: readonly unknown[],
): Loaded<Paged<A[N][number]>> {
  const wanted = useRef(1)
  const loaded = useLoad<Paged<A[N][number]>>(async (signal) => {
    const pages = wanted.current
    const { items, next } = await readPages(name, (query) => load({ query, signal }), { pages })
    const onMore = () => {
      wanted.current = pages + 1
      loaded.reload()
    }
    return { items, onMore: next === null ? undefined : onMore }
  }, keys)
  return loaded
}
const PAGE_ITEMS = 100

export function More({ onMore }: Pick<Paged<unknown>, 'onMore'>) {
  if (!onMore) return null
  return (
    <div class={s.more}>
      <Button size="small" onClick={onMore}>
        Show more
      </Button>
    </div>
  )
}

interface ShowProps<T> {
  readonly of: Loaded<T>
  readonly children: (data: T) => ComponentChildren
}

/** Shows a failure, a placeholder or the data, depending on how far it has loaded. */
export function Show<T>({ of, children }: ShowProps<T>) {
  if (of.data !== null) return <>{children(of.data)}</>
  if (of.error) return <Failure error={of.error} onRetry={of.reload} />
  return (
    <div class={s.rows} role="status" aria-busy="true" aria-label="Loading">
      {[72, 58, 64, 40].map((width) => (
        <Skeleton key={width} width={`${width}%`} height={18} />
      ))}
    </div>
  )
}

interface ListedProps<T> extends Pick<ShowProps<Paged<T> | readonly T[]>, 'of'> {
  readonly label: string
  readonly class?: string | undefined
  /** What stands there where there is nothing. */
  readonly empty: ComponentChildren
  readonly children: (item: T) => ComponentChildren
}

/** A list as it loads, with a button for more. */
export const Listed = <T,>({ of, label, class: look, empty, children }: ListedProps<T>) => (
  <Show of={of}>
    {(data) => {
      const { items, onMore } = 'items' in data ? data : { items: data, onMore: undefined }
      if (items.length === 0) return empty
      return (
        <>
          <ul class={look} aria-label={label}>
            {items.map(children)}
          </ul>
          <More onMore={onMore} />
        </>
      )
    }}
  </Show>
)

/** Shows a toast if the work fails; `then`: what follows where it does not. */
export function attempt<T>(work: Promise<T>, then?: (done: T) => void): void {
  work.then(then).catch(toastError)
}

/** A secret, which the server shows only once, with a button to copy it. */
export const Secret = ({ value, label }: { readonly value: string; readonly label: string }) => (
  <div class={s.secret}>
    <code aria-label={label}>{value}</code>
    <Button size="small" icon="copy" onClick={() => copyText(value)}>
      Copy
    </Button>
  </div>
)

export const CodeBlock = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <div class={s.codeBox}>
    <pre class={s.code} tabIndex={0} aria-label={label}>
      <code>{text}</code>
    </pre>
    <IconButton icon="copy" label={`Copy ${label}`} onClick={() => copyText(text)} />
  </div>
)

/** Shows a secret for the only time, in a dialog that says what it is for. */
export function openSecret(title: string, label: string, value: string, text: string): void {
  openDialog(
    <Dialog title={title} footer={<Kept />}>
      <p>{text}</p>
      <Secret value={value} label={label} />
    </Dialog>,
  )
}

function Kept() {
  const close = useClose()
  return (
    <Button variant="primary" onClick={() => close()}>
      I have kept it
    </Button>
  )
}

interface Confirmed {
  readonly title: string
  readonly text: string
  readonly action: string
  readonly run: () => Promise<unknown>
}

/** Asks for confirmation of what cannot be undone. */
export function askFirst(of: Confirmed): void {
  openDialog(<Confirm {...of} />)
}

function Confirm({ title, text, action, run }: Confirmed) {
  const { busy, error, submit, sent } = useForm({ start: {}, send: run })
  const close = useClose()
  sent.current = close
  return (
    <Dialog
      title={title}
      width={420}
      footer={
        <>
          <Button onClick={() => close()}>Cancel</Button>
          <Button variant="danger" disabled={busy} onClick={submit} data-autofocus>
            {action}
          </Button>
        </>
      }
    >
      <p class="muted">{text}</p>
      <FormProblem error={error} />
    </Dialog>
  )
}

interface FindProps {
  readonly label: string
  readonly placeholder: string
  readonly words: string
  readonly onInput: (words: string) => void
}

/** The field above a list that finds in it. */
export const Find = ({ label, placeholder, words, onInput }: FindProps) => (
  <input
    class={cx(ui['input'], s.find)}
    type="search"
    aria-label={label}
    placeholder={placeholder}
    value={words}
    onInput={(event) => onInput(event.currentTarget.value)}
  />
)

interface CheckProps {
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
  readonly children: ComponentChildren
  readonly disabled?: boolean
}

export const Check = ({ checked, onChange, children, disabled = false }: CheckProps) => (
  <label class={s.check}>
    <input
      type="checkbox"
      checked={checked}
      disabled={disabled}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
    <span>{children}</span>
  </label>
)

interface ChecksProps<T extends string> {
  readonly label: string
  readonly options: readonly (readonly [value: T, text: ComponentChildren])[]
  readonly chosen: readonly T[]
  readonly onChange: (chosen: readonly T[]) => void
  readonly children?: ComponentChildren
}

/** Any number of several options, each with a box to tick. */
export function Checks<T extends string>({ label, options, chosen, onChange, children }: ChecksProps<T>) {
  const others = (value: T) => chosen.filter((one) => one !== value)
  return (
    <fieldset class={cx(s.form, s.checks)}>
      <legend>{label}</legend>
      {options.map(([value, text]) => (
        <Check
          key={value}
          checked={chosen.includes(value)}
          onChange={(on) => onChange(on ? [...others(value), value] : others(value))}
        >
          {text}
        </Check>
      ))}
      {children}
    </fieldset>
  )
}

export { s as pageStyles }
