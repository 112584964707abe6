const BROWSERS: [name: string, pattern: RegExp][] = [
  ['Edge', /\bEdg\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\bFirefox\//],
  ['Chrome', /\b(Headless)?Chrom(e|ium)\//],
  ['Safari', /\bSafari\//],
]
const SYSTEMS: [name: string, pattern: RegExp][] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
]

/** "Firefox on Linux", or the beginning of what the client calls itself. */
export function browserName(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown client'
  const find = (list: [string, RegExp][]) => list.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)]
  if (browser === undefined) return userAgent.split(' ')[0] || 'Unknown client'
  return system === undefined ? browser : `${browser} on ${system}`
}
