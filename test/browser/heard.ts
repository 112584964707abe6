import type { Page } from 'playwright-core'

/**
 * The roles and names of the page's content, in the order in which a screen reader comes across them, such as
 * `heading "New service"`; only those with one of these roles.
 */
export async function heard(page: Page, ...roles: string[]): Promise<string[]> {
  const snapshot = await page.locator('#content').ariaSnapshot()
  return snapshot.split('\n').flatMap((line) => {
    const [, said, role] = /^\s*- '?((\w+)(?: "(?:[^"\\]|\\.)*")?)/.exec(line) ?? []
    return said !== undefined && roles.includes(role!) ? [said] : []
  })
}
