import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { PHONE, type TestBrowser } from './browser.ts'

const AXE = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
/** All rules of axe, including best practices; target size is off unless requested. Pages have no media to preload. */
const RULES = { rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'], preload: false }
/** Rules whose result can differ on a narrow page. */
const LAYOUT = {
  ...RULES,
  rules: { 'target-size': { enabled: true }, 'color-contrast': { enabled: false } },
}
/** Rules whose result can differ with the theme. */
const CONTRAST = { runOnly: ['color-contrast'], resultTypes: ['violations'] }

/** A way to view a page. */
interface Look {
  name: string
  viewport: { width: number; height: number }
  colorScheme: 'light' | 'dark'
  options: object
}

const DESKTOP = { width: 1280, height: 900 }

// Colours are the same on a desktop and on a phone; the rules about them need not run twice.
export const LIGHT: Look = { name: 'light desktop', viewport: DESKTOP, colorScheme: 'light', options: RULES }
export const DARK: Look = { name: 'dark desktop', viewport: DESKTOP, colorScheme: 'dark', options: CONTRAST }
export const NARROW: Look = { name: 'phone', viewport: PHONE, colorScheme: 'light', options: LAYOUT }
/** Rules for what only a phone has. */
export const PHONE_ALONE: Look = { ...NARROW, options: RULES }

export interface Visit {
  name: string
  path: string
  /** What is opened on the page. */
  open?: (page: Page) => Promise<unknown>
  /** Whether each run views it, on behalf of the others that consist of the same parts. */
  isOfItsKind?: boolean
}

/** A page that goes from visit to visit and is checked by axe. */
export class Visitor {
  readonly #browser: TestBrowser
  readonly #page: Page
  #at: Visit | undefined

  constructor(browser: TestBrowser, page: Page) {
    this.#browser = browser
    this.#page = page
  }

  /** The findings of axe for each view, and what else went wrong so far. Goes there unless the page is there already. */
  async look(visit: Visit, looks: [Look, ...Look[]]): Promise<string[]> {
    if (this.#at !== visit) await this.#go(visit, looks[0])
    const found: string[] = []
    for (const each of looks) {
      await this.#change(each)
      await painted(this.#page, each.colorScheme)
      const findings = await findingsIn(this.#page, 'html', each.options)
      found.push(...findings.map((finding) => `${each.name}: ${finding}`))
    }
    return [...found, ...this.#browser.faults]
  }

  async #go(visit: Visit, look: Look): Promise<void> {
    this.#at = undefined
    await this.#change(look)
    await this.#page.goto(visit.path)
    await this.#page.getByRole('heading', { level: 1 }).waitFor()
    await loaded(this.#page)
    await visit.open?.(this.#page)
    this.#at = visit
  }

  async #change({ viewport, colorScheme }: Look): Promise<void> {
    await this.#page.setViewportSize(viewport)
    await this.#page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  }
}

/** What is open over a page. */
export const DIALOG = '[role=dialog]'

/** The findings of axe on a page as it is now, or in a part of it: by all rules, and by those of colours when it is dark. */
export async function findingsOf(page: Page, part = 'html'): Promise<string[]> {
  const light = await findingsIn(page, part, RULES)
  await page.emulateMedia({ colorScheme: 'dark' })
  await painted(page, 'dark')
  const dark = await findingsIn(page, part, CONTRAST)
  await page.emulateMedia({ colorScheme: 'light' })
  await painted(page, 'light')
  return [...light, ...dark.map((finding) => `dark: ${finding}`)]
}

async function painted(page: Page, colorScheme: Look['colorScheme']): Promise<void> {
  await page.locator(colorScheme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor()
}

async function loaded(page: Page): Promise<void> {
  await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' })
}

/** The findings of axe once nothing moves. */
async function findingsIn(page: Page, part: string, options: object): Promise<string[]> {
  await loaded(page)
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().filter((a) => a.effect.getTiming().iterations !== Infinity).map((a) => a.finished)).then(() => {})',
  )
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(`${AXE}; undefined`)
  return page.evaluate<string[]>(`axe.run('${part}', ${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`)
}

/**
 * Tests that check each of these pages by all rules, and by those that a theme and a narrow window can change. A check takes
 * seconds, and a change that breaks one page breaks every page with the same parts. So each run checks one page of each kind;
 * the others, whatever else can be opened on a page, and pages with other data, are only checked with all tests.
 */
export function testVisits(visits: Visit[], visitor: () => Visitor): void {
  for (const visit of visits) {
    const { name, isOfItsKind = false } = visit
    const tags = isOfItsKind ? [] : ['slow']
    test(`axe finds nothing on ${name}, on a light desktop`, { tags }, async () => {
      expect(await visitor().look(visit, [LIGHT])).toEqual([])
    })
    test(`axe finds nothing on ${name}, on a dark desktop and on a phone`, { tags }, async () => {
      expect(await visitor().look(visit, [DARK, NARROW])).toEqual([])
    })
  }
}
