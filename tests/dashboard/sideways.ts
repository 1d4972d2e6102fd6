// What can be scrolled sideways. The document is as wide as the window whatever stands on it, since `main` and the dialogs
// scroll by themselves: each place that scrolls is asked.

import type { Page } from 'playwright-core'

/** Code keeps its lines, and a table that says so keeps its columns: a reader is told of both, and keys reach them. */
const MAY_SCROLL = 'pre, .cm-scroller, [role=region][tabindex="0"], table[tabindex="0"]'

/** The places that are wider inside than outside, each with what sticks out of it: `main 724 > 390: table.wide`. */
export const sideways = (page: Page): Promise<string[]> =>
  page.evaluate((mayScroll) => {
    const scrolls = (element: Element) =>
      element === document.scrollingElement || /auto|scroll/.test(getComputedStyle(element).overflowX)
    const named = (element: Element) =>
      `${element.tagName.toLowerCase()}.${element.id || element.getAttribute('class')}`
    const right = (element: Element) => element.getBoundingClientRect().right
    const widest = (place: Element) =>
      [...place.querySelectorAll('*')]
        .filter((one) => one.closest(mayScroll) === null)
        .reduce(
          (before, one) => (right(one) > right(before) ? one : before),
          place.firstElementChild ?? place,
        )
    return [document.scrollingElement!, ...document.querySelectorAll('body *')]
      .filter((one) => one.scrollWidth > one.clientWidth + 1 && scrolls(one) && !one.matches(mayScroll))
      .map((one) => `${named(one)} ${one.scrollWidth} > ${one.clientWidth}: ${named(widest(one))}`)
  }, MAY_SCROLL)

/** What stands beyond the right edge, and in nothing that scrolls. */
export const cutOff = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const scrolls = (element: Element | null): boolean =>
      element !== null &&
      element.id !== 'main' &&
      (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement))
    return [...document.querySelectorAll('#main *')]
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !scrolls(one.parentElement))
      .map((one) => one.outerHTML.slice(0, 120))
  })
