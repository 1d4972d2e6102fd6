// Buttons, fields, dialogs, toasts and other small controls, usable by keyboard and named for screen readers.

import { signal } from '@preact/signals'
import { type ButtonHTMLAttributes, type ComponentChildren, h } from 'preact'
import { useEffect, useId } from 'preact/hooks'
import { ApiError } from '../api-client.ts'
import { saidText } from '../format.ts'
import { Icon, type IconName } from './icon.tsx'
import s from './ui.module.css'

export const cx = (...names: (string | false | null | undefined)[]): string => names.filter(Boolean).join(' ')

interface ButtonProps extends Omit<
  ButtonHTMLAttributes,
  'icon' | 'size' | 'type' | 'label' | 'disabled' | 'children'
> {
  readonly variant?: 'primary' | 'danger' | 'quiet'
  readonly size?: 'small'
  readonly icon?: IconName
  /** Name and tooltip of a button without text. */
  readonly label?: string
  readonly pressed?: boolean
  readonly disabled?: boolean
  readonly type?: 'button' | 'submit'
  readonly children?: ComponentChildren
}

export function Button(button: ButtonProps) {
  const { variant, size, icon, label, pressed, children, type = 'button', class: more, ...rest } = button
  return (
    <button
      {...rest}
      type={type}
      class={cx(
        s.button,
        variant && s[variant],
        size && s[size],
        !children && s.iconOnly,
        pressed && s.pressed,
        typeof more === 'string' && more,
      )}
      aria-label={label ?? rest['aria-label']}
      aria-pressed={pressed}
      title={label ?? rest.title}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

/** A small one of an icon alone, named by its label. */
export const IconButton = (props: Omit<ButtonProps, 'variant' | 'size'>) => (
  <Button variant="quiet" size="small" {...props} />
)

/** What the server says: names of code in backticks look like code. */
export function Said({ text }: { readonly text: string }) {
  const parts = saidText(text).split(/`([^`]+)`/)
  return <>{parts.map((part, i) => (i % 2 === 0 ? part : <code key={i}>{part}</code>))}</>
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly hint?: string
  /** What is wrong with the value, as a sentence. */
  readonly problem?: string | undefined
  readonly type?: string
  readonly name?: string
  readonly placeholder?: string
  readonly autocomplete?: string
  readonly autofocus?: boolean
  readonly onBlur?: () => void
  readonly disabled?: boolean
  readonly inputMode?: string
  /** More than one line. */
  readonly rows?: number
  /** Suggestions; anything else may be typed too. */
  readonly offered?: readonly string[]
}

export function Field(field: FieldProps) {
  const { label, value, onInput, hint, problem, rows, autofocus, offered, ...rest } = field
  const id = useId()
  // Chromium complains on the console about the autofocus attribute if something has the focus already.
  useEffect(() => {
    if (autofocus) document.getElementById(id)?.focus()
  }, [])
  const props = {
    ...rest,
    ...(rows !== undefined && { rows }),
    ...(autofocus && { 'data-autofocus': '' }),
    ...(offered && { list: `${id}-list`, autocomplete: 'off' }),
    id,
    class: s.input,
    value,
    'aria-invalid': problem ? 'true' : undefined,
    'aria-describedby': hint || problem ? `${id}-note` : undefined,
    onInput: (event: Event) => onInput((event.target as HTMLInputElement).value),
  }
  return (
    <div class={s.field}>
      <label class={s.label} for={id}>
        {label}
      </label>
      {rows === undefined ? h('input', props as object) : h('textarea', props as object)}
      {offered && (
        <datalist id={`${id}-list`}>
          {offered.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      {(problem || hint) && (
        <span id={`${id}-note`} class={problem ? s.wrong : s.hint}>
          {problem ?? hint}
        </span>
      )}
    </div>
  )
}

interface ChoiceProps<T extends string> {
  readonly id?: string
  readonly 'aria-label'?: string
  readonly disabled?: boolean
  readonly class?: string | undefined
  readonly value: T
  readonly options: readonly (readonly [value: T, text: string])[]
  readonly onChange: (value: T) => void
}

/** A list to choose from; `Select` has it below a label. */
export const Choice = <T extends string>({ options, onChange, ...rest }: ChoiceProps<T>) => (
  <select class={s.input} {...rest} onChange={(event) => onChange(event.currentTarget.value as T)}>
    {options.map(([option, text]) => (
      <option key={option} value={option}>
        {text}
      </option>
    ))}
  </select>
)

interface SelectProps<T extends string> extends Pick<ChoiceProps<T>, 'value' | 'options' | 'onChange'> {
  readonly label: string
  readonly hideLabel?: boolean
}

export function Select<T extends string>({ label, hideLabel, ...rest }: SelectProps<T>) {
  const id = useId()
  return (
    <div class={s.field}>
      <label class={hideLabel ? 'visually-hidden' : s.label} for={id}>
        {label}
      </label>
      <Choice {...rest} id={id} />
    </div>
  )
}

interface TabsProps<T extends string> {
  readonly label: string
  readonly tabs: readonly (readonly [id: T, text: string, icon?: IconName])[]
  readonly active: T | ''
  readonly onSelect: (id: T) => void
  /** On a page they go on in another line where one is too narrow; in a drawer they are one. */
  readonly wraps?: boolean
  readonly children?: ComponentChildren
}

/** Arrow keys move between tabs, as everywhere. */
export function Tabs<T extends string>({ label, tabs, active, onSelect, wraps, children }: TabsProps<T>) {
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step) return
    const at = tabs.findIndex(([id]) => id === active)
    const next = tabs[(at + step + tabs.length) % tabs.length]
    if (!next) return
    event.preventDefault()
    onSelect(next[0])
    const list = event.currentTarget as HTMLElement
    queueMicrotask(() => list.querySelector<HTMLElement>('[aria-selected="true"]')?.focus())
  }
  return (
    <div class={cx(s.tabs, wraps && s.wraps)}>
      <div role="tablist" aria-label={label} onKeyDown={onKeyDown} style={{ display: 'contents' }}>
        {tabs.map(([id, text, icon], i) => (
          <button
            key={id}
            type="button"
            role="tab"
            class={s.tab}
            aria-selected={id === active}
            tabIndex={id === active || (active === '' && i === 0) ? 0 : -1}
            onClick={() => onSelect(id)}
          >
            {icon && <Icon name={icon} />}
            {text}
          </button>
        ))}
      </div>
      {children}
    </div>
  )
}

interface BadgeProps {
  readonly tone?: 'up' | 'down' | 'warn' | 'accent' | undefined
  readonly children: ComponentChildren
}

export const Badge = ({ tone, children }: BadgeProps) => (
  <span class={s.badge} data-tone={tone}>
    {children}
  </span>
)

interface EmptyProps {
  readonly title: string
  readonly children?: ComponentChildren
  readonly action?: ComponentChildren
}

/** Shown instead of missing content: what happened, what to do, and a button that does it. */
export const Empty = ({ title, children, action }: EmptyProps) => (
  <div class={s.empty}>
    <h2>{title}</h2>
    {children && <p>{children}</p>}
    {action}
  </div>
)

export const Skeleton = ({ width = '100%', height = 16 }: { width?: number | string; height?: number }) => (
  <div
    class={s.skeleton}
    style={{ width: typeof width === 'number' ? `${width}px` : width, height: `${height}px` }}
    aria-hidden="true"
  />
)

/** `fraction` is null if the duration is unknown. */
export const Progress = ({ fraction, label }: { fraction: number | null; label: string }) => (
  <div
    class={s.progress}
    role="progressbar"
    aria-label={label}
    aria-valuemin={0}
    aria-valuemax={100}
    aria-valuenow={fraction === null ? undefined : Math.round(fraction * 100)}
  >
    <div style={{ width: `${(fraction ?? 0.4) * 100}%` }} />
  </div>
)

interface Toast {
  readonly id: number
  readonly tone: 'up' | 'down' | 'alert' | 'none'
  readonly text: string
  readonly detail?: string
  readonly action?: { readonly text: string; readonly run: () => void }
}
const toasts = signal<readonly Toast[]>([])
let nextToast = 1

/** Good news disappears by itself; bad news stays until it is closed, and so does what somebody waited for. */
export function toast(
  text: string,
  { tone = 'none', ...more }: Partial<Omit<Toast, 'id' | 'text'>> = {},
): void {
  const id = nextToast++
  toasts.value = [...toasts.value.slice(-3), { id, tone, text, ...more }]
  if ((tone === 'up' || tone === 'none') && !more.action) setTimeout(() => dismiss(id), 5000)
}

const dismiss = (id: number): void => {
  toasts.value = toasts.value.filter((one) => one.id !== id)
}

/** Shows the server's message, with the request id to quote. */
export function toastError(error: unknown): void {
  const id = error instanceof ApiError && error.requestId
  toast(messageOf(error), { tone: 'down', ...(id && { detail: `Request ${id}` }) })
}

export const Toasts = () => (
  <div class={s.toasts} role="status" aria-live="polite">
    {toasts.value.map((one) => (
      <div key={one.id} class={s.toast} data-tone={one.tone}>
        <div>
          {one.tone === 'alert' && (
            <div class={s.toastHead}>
              <Icon name="bell" /> Alert
            </div>
          )}
          <div>
            <Said text={one.text} />
          </div>
          {one.detail && <code class="muted">{one.detail}</code>}
          {one.action && (
            <Button
              size="small"
              class={s.toastAction ?? ''}
              onClick={() => {
                dismiss(one.id)
                one.action?.run()
              }}
            >
              {one.action.text}
            </Button>
          )}
        </div>
        <IconButton icon="close" label="Dismiss" onClick={() => dismiss(one.id)} />
      </div>
    ))}
  </div>
)

/** Shows a failure where its content would have been. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const api = error instanceof ApiError ? error : null
  // Asking again does not help when something does not exist.
  if (api?.status === 404)
    return (
      <Empty title="Nothing here">
        <Said text={api.message} /> It may have been deleted, or it is private to somebody else.
      </Empty>
    )
  return (
    <Empty
      title={api?.status === 0 ? 'No connection' : 'That did not work'}
      action={onRetry && <Button onClick={onRetry}>Try again</Button>}
    >
      <Said text={messageOf(error)} />
      {api?.requestId && (
        <>
          <br />
          <code>{api.requestId}</code>
        </>
      )}
    </Empty>
  )
}

export { s as uiStyles }
