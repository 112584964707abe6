/** What is wrong with an address in which `***` is in the place of what was not shown; null when nothing is. */
export function hiddenFault(text: string): string | null {
  const url = URL.parse(text)
  // `user@host:path`, which holds no secret.
  if (url === null) return null
  const { username, password, search, pathname } = url
  const parts = [username, password, ...search.slice(1).split('&'), ...pathname.split('/')]
  // The end of a hidden path may be shown behind it.
  return parts.some((part) => part.startsWith('***'))
    ? 'has *** in the place of what is not shown: write it out'
    : null
}
