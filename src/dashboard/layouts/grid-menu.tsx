// How the charts stand, and what they do together: a button in the top bar with a panel of little pictures and switches.

import type { GridShape } from '../../wire/layout.ts'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { charts, setLink, setShape } from '../charts.ts'
import { Check } from '../frame/page.tsx'
import { Button } from '../ui/ui.tsx'
import { areasOf } from './areas.ts'
import { GRID_NAMES, LINKS, SHAPES } from './grids.ts'
import s from './layouts.module.css'

export function GridMenu({ narrow }: { readonly narrow: string | undefined }) {
  const [at, setAt] = useState<{ readonly x: number; readonly y: number } | null>(null)
  const anchor = useRef<HTMLSpanElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const id = useId()
  const { shape, links } = charts.value
  const close = (refocus: boolean) => {
    setAt(null)
    if (refocus) anchor.current?.querySelector('button')?.focus()
  }
  useLayoutEffect(() => {
    if (!at) return undefined
    const element = panel.current!
    // The page's policy forbids inline styles in markup, but allows setting them through the object model.
    element.style.left = `${Math.max(8, Math.min(at.x, innerWidth - element.offsetWidth - 8))}px`
    element.style.top = `${at.y}px`
    element.querySelector<HTMLElement>('[aria-checked=true]')?.focus()
    const outside = ({ target }: Event) => {
      if (!element.contains(target as Node) && !anchor.current?.contains(target as Node)) close(false)
    }
    document.addEventListener('pointerdown', outside, true)
    return () => document.removeEventListener('pointerdown', outside, true)
  }, [at])
  return (
    <span ref={anchor} class={narrow}>
      <Button
        variant="quiet"
        class={s.button ?? ''}
        label={`Charts: ${GRID_NAMES[shape]}`}
        aria-haspopup="dialog"
        aria-expanded={at !== null}
        aria-controls={at ? id : undefined}
        onClick={() => {
          const box = anchor.current!.getBoundingClientRect()
          setAt(at ? null : { x: box.left, y: box.bottom + 4 })
        }}
      >
        <Glyph shape={shape} />
      </Button>
      {at && (
        <div
          ref={panel}
          id={id}
          class={s.panel}
          role="dialog"
          aria-label="Charts"
          onKeyDown={(event) => {
            if (event.key === 'Escape') {
              event.stopPropagation()
              close(true)
            } else if (event.key.startsWith('Arrow')) stepAlong(event, panel.current!)
          }}
        >
          <p class={s.head}>Charts</p>
          <div class={s.shapes} role="radiogroup" aria-label="Charts">
            {SHAPES.map((one) => (
              <button
                key={one}
                type="button"
                role="radio"
                class={s.shape}
                aria-checked={one === shape}
                aria-label={GRID_NAMES[one]}
                title={GRID_NAMES[one]}
                tabIndex={one === shape ? 0 : -1}
                onClick={() => setShape(one)}
              >
                <Glyph shape={one} />
              </button>
            ))}
          </div>
          <p class={s.head}>The same on all charts</p>
          <div class={s.links}>
            {LINKS.map(([link, name, about]) => (
              <Check key={link} checked={links.includes(link)} onChange={(on) => setLink(link, on)}>
                <span>
                  {name}
                  <span class={s.about}>{about}</span>
                </span>
              </Check>
            ))}
          </div>
        </div>
      )}
    </span>
  )
}

/** Arrow keys go along the pictures, as in a group of radio buttons, but choose nothing: each choice loads charts. */
function stepAlong(event: KeyboardEvent, panel: HTMLElement): void {
  const all = [...panel.querySelectorAll<HTMLElement>('[role=radio]')]
  const now = all.indexOf(event.target as HTMLElement)
  if (now < 0) return
  event.preventDefault()
  const by = event.key === 'ArrowRight' || event.key === 'ArrowDown' ? 1 : -1
  all[(now + by + all.length) % all.length]?.focus()
}

/** The grid as a picture of 18 by 14 px. */
function Glyph({ shape }: { readonly shape: GridShape }) {
  return (
    <svg width="18" height="14" viewBox="0 0 18 14" class={s.glyph} aria-hidden="true" focusable="false">
      {areasOf(shape).map(({ x, y, width, height }) => (
        <rect
          key={`${x} ${y}`}
          x={0.5 + x * 17}
          y={0.5 + y * 13}
          width={width * 17}
          height={height * 13}
          rx="1"
        />
      ))}
    </svg>
  )
}
