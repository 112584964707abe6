/** What is wrong with an address in which `***` stands for what was not shown; null when nothing is. */
export function hiddenFault(text: string): string | null {
  const url = URL.parse(text)
  // `user@host:path`, which holds no secret.
  if (url === null) return null
  const { username, password, search, pathname } = url
  const parts = [username, password, ...search.slice(1).split('&'), ...pathname.split('/')]
  return parts.includes('***') ? 'has *** in the place of what is not shown: write it out' : null
}
