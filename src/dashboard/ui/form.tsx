// Forms. Hints and checks come from the fields' declarations on the wire. What the server refuses is shown beside its field
// until the field changes. Typed text is not lost: a dialog asks before it discards text, and a form with a draft still has
// it after a reload, a crash or a sign-out.

import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api-client.ts'
import { user } from '../session.ts'
import { quietly } from '../settings.ts'
import { faultOf, refusalOf, wants, type InputType } from './field-words.ts'
import { saidAt } from './refusal-words.ts'
import s from './form.module.css'
import { Dialog } from './dialog.tsx'
import { useClose } from './dialogs.tsx'
import { Button, cx, messageOf, Said } from './ui.tsx'
import type { WireField } from './wire-fields.ts'

interface FormOptions<V> {
  /** The declarations of the fields on the wire, by name. */
  readonly wire?: Readonly<Record<string, WireField>>
  readonly start: V
  readonly send: (values: V) => Promise<unknown>
  /** The name under which this browser keeps what was typed until it is sent or discarded. */
  readonly draft?: string
  /** After sending, the form returns to its start values. */
  readonly clears?: boolean
}

interface FieldOptions {
  readonly type?: InputType
  /** Further fields of the wire whose problems are shown here. */
  readonly also?: readonly string[]
  readonly required?: boolean
}

type TextName<V> = { [N in keyof V]: V[N] extends string ? N : never }[keyof V] & string

export type FormOf<V extends object> = ReturnType<typeof useForm<V>>

export function useForm<V extends object>(options: FormOptions<V>) {
  const { wire = {}, start, send, draft, clears } = options
  const kept = useMemo(() => (draft === undefined ? null : draftOf<V>(draft)), [draft])
  const first = useRef(start)
  const [values, setValues] = useState<V>(() => ({ ...start, ...kept?.read() }))
  /** The newest values, so that two changes in one event do not overwrite each other. */
  const newest = useRef(values)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<{ readonly error: unknown; readonly values: V } | null>(null)
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  /** The fields on screen, by name; filled while the form is rendered. */
  const asked = useRef(new Map<string, FieldOptions>())
  const sent = useRef(() => {})
  asked.current = new Map()

  const textOf = (name: string, of: V = values): string => {
    const value = (of as Record<string, unknown>)[name]
    return typeof value === 'string' ? value : ''
  }
  const fieldOf = (name: string, { required }: FieldOptions = {}): WireField | undefined => {
    const field = wire[name]
    return field && required !== undefined ? { ...field, required } : field
  }
  const localFault = (name: string, options?: FieldOptions) => {
    const field = fieldOf(name, options)
    const value = (values as Record<string, unknown>)[name]
    // What is ticked or chosen is no text: an empty text would be wrong, whatever has been ticked.
    if (Array.isArray(value)) return value.length < (field?.min ?? 0) ? 'Choose at least one.' : undefined
    return field && faultOf(field, textOf(name), options?.type)
  }
  const refused = (names: readonly string[]): string | undefined => {
    const { error, values: sent } = failure ?? {}
    if (!(error instanceof ApiError) || !sent || textOf(names[0]!, sent) !== textOf(names[0]!))
      return undefined
    const problem = error.fields.find(({ path }) => names.some((name) => isAt(path, name)))
    return problem && refusalOf(problem, wire[names[0]!], textOf(names[0]!))
  }
  const change = (part: Partial<V>) => {
    newest.current = { ...newest.current, ...part }
    setValues(newest.current)
    kept?.write(newest.current)
  }
  const set = <N extends keyof V>(name: N, value: V[N]) => change({ [name]: value } as unknown as Partial<V>)
  const startAgain = () => {
    newest.current = first.current
    setValues(first.current)
  }
  const submit = (event?: Event) => {
    event?.preventDefault()
    if (busy) return
    const from = event?.target instanceof HTMLElement ? event.target : null
    const dialog = from?.closest('[role=dialog]')
    const scope = dialog ?? from?.closest('form') ?? document
    const goTo = (name: string | undefined) =>
      (scope.querySelector<HTMLElement>(`[name='${name}']`) ?? dialog?.querySelector('button'))?.focus()
    const wrong = [...asked.current].find(([name, options]) => localFault(name, options))
    setLeft(new Set(asked.current.keys()))
    if (wrong) {
      goTo(wrong[0])
      return
    }
    setBusy(true)
    send(values).then(
      () => {
        kept?.forget()
        if (clears) startAgain()
        else first.current = values
        setFailure(null)
        setLeft(new Set())
        setBusy(false)
        sent.current()
      },
      (error: unknown) => {
        setFailure({ error, values })
        setBusy(false)
        // The button was disabled meanwhile and has lost the focus, without which a dialog hears no Esc.
        const refusedAt = error instanceof ApiError ? error.fields : []
        const field = [...asked.current].find(([name, { also = [] }]) =>
          refusedAt.some(({ path }) => [name, ...also].some((one) => isAt(path, one))),
        )
        goTo(field?.[0])
      },
    )
  }
  return {
    values,
    busy,
    error: (failure?.error ?? null) as unknown,
    submit,
    /** The fields that show their own problems. */
    get shown(): ReadonlySet<string> {
      return new Set([...asked.current].flatMap(([name, { also = [] }]) => [name, ...also]))
    },
    /** Something was typed and has not been sent. */
    changed: Object.keys(values).some((name) => textOf(name).trim() !== textOf(name, first.current).trim()),
    change,
    set,
    /** The props of a choice: `<Select label="Side" options={SIDES} {...form.choice('side')} />`. */
    choice: <N extends keyof V>(name: N): { value: V[N]; onChange: (value: V[N]) => void } => ({
      value: values[name],
      onChange: (value) => set(name, value),
    }),
    /** What is wrong with a field that is not a text input. */
    problem(name: string) {
      asked.current.set(name, {})
      return refused([name]) ?? (left.has(name) ? localFault(name) : undefined)
    },
    /** The props of an input: `<Field label="Name" {...form.field('name')} />`. */
    field(name: TextName<V>, options: FieldOptions = {}) {
      asked.current.set(name, options)
      const field = fieldOf(name, options)
      const hint = field && wants(field)
      return {
        name,
        value: textOf(name),
        onInput: (value: string) => set(name, value as V[typeof name]),
        onBlur: () => textOf(name) !== '' && setLeft(new Set([...left, name])),
        problem:
          refused([name, ...(options.also ?? [])]) ??
          (left.has(name) ? localFault(name, options) : undefined),
        ...(options.type && { type: options.type }),
        ...(hint !== undefined && { hint }),
      }
    },
    /** Discards what was typed, and the draft. */
    reset() {
      kept?.forget()
      startAgain()
    },
    /** Clears the server's refusal, because something else would be sent now. */
    forgive: () => setFailure(null),
    /** What follows once it is sent. */
    sent,
  }
}

const isAt = (path: string, name: string): boolean => path === `/${name}` || path.startsWith(`/${name}/`)

/** Reads and writes a draft. Each user of the browser has their own. */
function draftOf<V>(name: string) {
  const key = `chartroom.draft.${user.peek()?.id ?? ''}.${name}`
  return {
    read: () => quietly(() => JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<V>),
    write: (values: V) => quietly(() => localStorage.setItem(key, JSON.stringify(values))),
    forget: () => quietly(() => localStorage.removeItem(key)),
  }
}

/** Below what fills the window it would look as if the button did nothing. */
const intoView = (problem: HTMLElement | null) => problem?.scrollIntoView({ block: 'nearest' })

interface FormProblemProps {
  readonly error: unknown
  /** Asked when everything before it is rendered: the fields of parts of the form have said by then which they are. */
  readonly shown?: () => ReadonlySet<string>
}

/** Shows problems, except those shown beside a field. */
export function FormProblem({ error, shown }: FormProblemProps) {
  if (!error) return null
  const api = error instanceof ApiError ? error : null
  const elsewhere =
    api?.fields.filter(({ path }) => ![...(shown?.() ?? [])].some((name) => isAt(path, name))) ?? []
  if (api && api.fields.length > 0 && elsewhere.length === 0) return null
  return (
    <div class={s.problem} role="alert" ref={intoView}>
      {elsewhere.length > 0 ? (
        elsewhere.map((field) => (
          <span key={field.path}>
            <Said text={field.path === '' ? refusalOf(field) : saidAt(field)} />
          </span>
        ))
      ) : (
        <span>
          <Said text={messageOf(error)} />
        </span>
      )}
      {api && api.status >= 500 && <code class="muted">{api.requestId}</code>}
    </div>
  )
}

interface FormProps<V extends object> {
  readonly of: FormOf<V>
  readonly action: string
  readonly variant?: 'primary'
  readonly disabled?: boolean
  readonly children: ComponentChildren
  readonly beside?: ComponentChildren
  readonly class?: string | undefined
}

interface PageFormProps<V extends object> extends FormProps<V> {
  /** Its name for screen readers, where no heading names it. */
  readonly label?: string
  readonly labelledBy?: string
  readonly role?: 'search'
  readonly actionClass?: string | undefined
  /** Replaces the button and what is beside it. */
  readonly foot?: ComponentChildren
}

export function Form<V extends object>(form: PageFormProps<V>) {
  const { of, action, variant, disabled = false, children, beside, foot, ...rest } = form
  return (
    <form
      class={cx(s.form, rest.class)}
      noValidate
      onSubmit={of.submit}
      role={rest.role}
      aria-label={rest.label}
      aria-labelledby={rest.labelledBy}
    >
      {children}
      <FormProblem error={of.error} shown={() => of.shown} />
      {foot ?? (
        <div class={s.foot}>
          <Button
            type="submit"
            {...(variant && { variant })}
            class={rest.actionClass ?? ''}
            disabled={of.busy || disabled}
          >
            {action}
          </Button>
          {beside}
        </div>
      )}
    </form>
  )
}

interface FormDialogProps<V extends object> extends Omit<FormProps<V>, 'beside' | 'variant'> {
  readonly title: string
  readonly width?: number
  /** Of one that was not opened by `openDialog`. */
  readonly onClose?: (isSent?: boolean) => void
}

/** A form in a dialog, which is closed when it is sent, and asks before it discards what was typed. */
export function FormDialog<V extends object>(form: FormDialogProps<V>) {
  const { of, title, action, width, disabled = false, onClose = useClose(), children } = form
  of.sent.current = () => onClose(true)
  const [asking, setAsking] = useState(false)
  useEffect(() => {
    if (asking) document.querySelector<HTMLElement>('[data-stay]')?.focus()
  }, [asking])
  const leave = () => {
    if (asking) setAsking(false)
    else if (of.changed && !of.busy) setAsking(true)
    else onClose()
  }
  const discard = () => {
    of.reset()
    onClose()
  }
  return (
    <Dialog
      title={title}
      onClose={leave}
      width={width}
      footer={
        asking ? (
          <>
            <span class={s.question} role="alert">
              Discard what you wrote?
            </span>
            <Button variant="danger" onClick={discard}>
              Discard
            </Button>
            <Button variant="primary" onClick={() => setAsking(false)} data-stay="">
              Keep editing
            </Button>
          </>
        ) : (
          <>
            <Button onClick={leave}>Cancel</Button>
            <Button variant="primary" disabled={of.busy || disabled} onClick={of.submit}>
              {action}
            </Button>
          </>
        )
      }
    >
      <form
        class={cx(s.form, form.class)}
        noValidate
        onSubmit={of.submit}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) of.submit(event)
        }}
      >
        {children}
        <FormProblem error={of.error} shown={() => of.shown} />
        {/* Enter sends the form. */}
        <input type="submit" hidden />
      </form>
    </Dialog>
  )
}
