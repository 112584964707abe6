import { spawn } from 'node:child_process'

const OPENERS: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens an http or https address in the user's browser. A computer without one is not a fault: the address was shown. */
export function openInBrowser(url: string): void {
  const [command, ...words] = OPENERS[process.platform] ?? ['xdg-open']
  spawn(command, [...words, url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}
