import type { Locator } from 'playwright-core'

/**
 * The roles and names in a part of a page, in the order in which a screen reader comes across them, such as
 * `heading "New service"`; only those with one of these roles.
 */
export async function heard(part: Locator, ...roles: string[]): Promise<string[]> {
  const snapshot = await part.ariaSnapshot()
  return snapshot.split('\n').flatMap((line) => {
    const [, said, role] = /^\s*- '?((\w+)(?: "(?:[^"\\]|\\.)*")?)/.exec(line) ?? []
    return said !== undefined && roles.includes(role!) ? [said] : []
  })
}
