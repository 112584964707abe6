import type { Page } from 'playwright-core'

/** By how many pixels a page is wider than its window. */
export function excessOf(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
}

/** What moves on a page, although its reader asked that nothing does. */
export function movingOn(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`document.getAnimations()
    .filter((each) => each.effect.getTiming().duration > 1)
    .map((each) => each.animationName ?? each.transitionProperty)`)
}
