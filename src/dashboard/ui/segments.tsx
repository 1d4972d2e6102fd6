// A choice between a few options, as buttons side by side.

import s from './ui.module.css'

interface SegmentsProps<T extends string> {
  readonly label: string
  readonly value: T
  /** What stands on their buttons, and its tooltip. */
  readonly options: Readonly<Record<T, string | readonly [text: string, title: string]>>
  readonly onChange: (value: T) => void
  /** In place of the usual look. */
  readonly class?: string | undefined
}

export const Segments = <T extends string>(segments: SegmentsProps<T>) => (
  <div class={segments.class ?? s.segments} role="group" aria-label={segments.label}>
    {(Object.entries(segments.options) as [T, string | readonly [string, string]][]).map(([option, of]) => {
      const [text, title] = [of].flat()
      return (
        <button
          key={option}
          type="button"
          title={title}
          aria-pressed={option === segments.value}
          onClick={() => segments.onChange(option)}
        >
          {text}
        </button>
      )
    })}
  </div>
)
