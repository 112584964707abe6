import type { Flag } from '../command.ts'

/** Flags of every command that ends with `followDeploy`. */
export const FOLLOW_FLAGS: readonly Flag[] = [
  { name: 'detach', summary: "print the deploy's id and end, while the deploy goes on" },
  { name: 'no-follow', summary: 'wait for the end of the deploy without printing its log' },
  { name: 'timeout', value: 'time', summary: 'stop waiting after it, such as 30m; the deploy goes on' },
]

/** Exit codes that these commands add. */
export const FOLLOW_EXITS: Readonly<Record<string, string>> = {
  '0': 'the deploy is live',
  '1': 'the deploy failed, was canceled or superseded, or took longer than --timeout',
  '130': 'Ctrl-C: following ended, the deploy goes on',
}
