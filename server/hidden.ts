/** What is wrong with an address in which `***` stands for a hidden part; null when nothing is. */
export function hiddenFault(text: string): string | null {
  const url = URL.parse(text)
  // `user@host:path`, which contains no secret.
  if (url === null) return null
  const { username, password, search, pathname } = url
  const parts = [username, password, ...search.slice(1).split('&'), ...pathname.split('/')]
  // The end of a hidden path may be shown after the stars.
  return parts.some((part) => part.startsWith('***'))
    ? 'contains *** in place of a hidden part: write the whole address'
    : null
}
