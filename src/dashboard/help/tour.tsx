// The tour of the first start: four steps, each shown beside what it explains. Settings can show it again.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { keysShown } from '../commands.ts'
import { remembered, tourDone } from '../settings.ts'
import { IconButton } from '../ui/ui.tsx'
import { bottom, market, run } from '../workspace.ts'
import s from './tour.module.css'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'

/** What a command is reached by: its keys, or its button where there is no keyboard. */
const reachedBy = (command: string, button: string): string =>
  (isTouched() ? '' : keysShown(command)) || button
const isTouched = (): boolean => matchMedia('(hover: none)').matches

interface Step {
  readonly title: () => string
  readonly text: () => string
  /** Selector of what the step explains; its card is placed beside that. */
  readonly near: string
  readonly enter?: () => void
}

const STEPS: readonly Step[] = [
  {
    title: () => {
      const bars = market.peek().symbol === 'SPX' ? 'Twenty years of the S&P 500' : 'Your chart'
      return run.value ? `${bars}, already tested` : bars
    },
    text: () =>
      run.value
        ? 'A strategy ran on these bars: the chart shows its averages, and where it bought and sold.'
        : 'Drag it to go back in time. A strategy that runs on these bars shows here where it bought and sold.',
    near: '#main canvas',
  },
  {
    title: () => 'Change the script, see what it does',
    text: () =>
      `Edit it, or turn its inputs: the result follows. ${reachedBy('script:run', 'Run')} runs it, Examples has more of them.`,
    near: 'section[aria-label="Drawer"]',
    enter: () => (bottom.value = 'script'),
  },
  {
    title: () => 'Did it make money?',
    text: () =>
      'The report answers in four steps: how much, how bumpy, can it be trusted, and where it came from. Every trade leads to its bar.',
    near: 'section[aria-label="Drawer"]',
    enter: () => (bottom.value = 'report'),
  },
  {
    title: () => (isTouched() ? 'Everything is in the search' : 'Everything is one key away'),
    text: () =>
      `${reachedBy('palette', 'It')} finds symbols, scripts, results, help. ${
        isTouched()
          ? 'Markets takes files with your own bars.'
          : `Press ${keysShown('keys') || 'Help'} for all keys. Drop a file with your own bars anywhere.`
      }`,
    near: 'header button[title="Search everything"]',
  },
]

/** Where it was left, as by a reload. */
const step = remembered('tour.step', 0)

export function Tour() {
  const at = STEPS[step.value] ? step.value : 0
  const card = useRef<HTMLDivElement>(null)
  const [ring, setRing] = useState<DOMRect | null>(null)
  const { title, text, near, enter } = STEPS[at]!
  const end = () => {
    tourDone.value = true
    step.value = 0
  }

  useEffect(() => enter?.(), [at])
  useLayoutEffect(() => {
    const place = () => {
      const box = document.querySelector(near)?.getBoundingClientRect() ?? null
      setRing(box)
      if (!card.current) return
      const { offsetWidth: width, offsetHeight: height } = card.current
      const clamp = (value: number, most: number) => Math.max(12, Math.min(value, most - 12))
      const large = box !== null && innerWidth > 760 && box.height > innerHeight * 0.3
      const above = box !== null && box.top > height + 40
      const left = box ? (large ? box.left + 24 : box.right - width) : (innerWidth - width) / 2
      const top = !box
        ? innerHeight / 3
        : above
          ? box.top - height - 14
          : large
            ? box.top + 64
            : box.bottom + 12
      card.current.style.left = `${clamp(left, innerWidth - width)}px`
      card.current.style.top = `${clamp(top, innerHeight - height)}px`
    }
    place()
    // The element that the step explains may not be drawn yet.
    const again = setInterval(place, 300)
    return () => clearInterval(again)
  }, [at])
  // It stands at the end of the page, fifty Tabs from its beginning.
  useLayoutEffect(() => {
    if (document.activeElement === document.body)
      card.current
        ?.querySelector<HTMLElement>('[data-next] button:last-child')
        ?.focus({ preventScroll: true })
  }, [])
  // In a layout effect, so that Escape already works when the tour becomes visible.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // A dialog that was opened over the tour is what Escape closes.
      if (event.key === 'Escape' && !document.querySelector('[aria-modal="true"]')) end()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])

  const last = at === STEPS.length - 1
  const next = () => (last ? end() : (step.value = at + 1))
  return (
    <>
      {ring && (
        <div
          class={s.ring}
          style={{
            left: `${Math.max(2, ring.left - 4)}px`,
            top: `${Math.max(2, ring.top - 4)}px`,
            width: `${Math.min(ring.width + 8, innerWidth - 4)}px`,
            height: `${ring.height + 8}px`,
          }}
        />
      )}
      <div ref={card} class={s.tour} role="dialog" aria-label="Tour" aria-describedby="tour-text">
        <h2>{title()}</h2>
        <p id="tour-text">{text()}</p>
        <IconButton class={s.close ?? ''} icon="close" label="Close the tour" onClick={end} />
        <div class={s.foot}>
          <span class={s.dots} role="img" aria-label={`Step ${at + 1} of ${STEPS.length}`}>
            {STEPS.map((_, i) => (
              <i key={i} data-on={i === at} />
            ))}
          </span>
          <span data-next>
            {buttons([at > 0 && item('Back', '', () => (step.value = at - 1))], 'small quiet')}{' '}
            {buttons([item(last ? 'Start' : 'Next', '', next, { primary: true })], 'small')}
          </span>
        </div>
      </div>
    </>
  )
}
