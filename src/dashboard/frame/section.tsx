// A part of a page: its name, in a line what it is for, and what is in it.

import type { ComponentChildren } from 'preact'

interface SectionProps {
  readonly title: string
  readonly about?: string
  readonly class?: string | undefined
  readonly 'aria-label'?: string
  readonly children: ComponentChildren
}

export const Section = ({ title, about, children, ...rest }: SectionProps) => (
  <section {...rest}>
    <h2>{title}</h2>
    {about && <p>{about}</p>}
    {children}
  </section>
)
