import { join } from 'node:path'
import { expect } from 'vitest'
import { checkout, type Checkout, type CheckoutRequest } from '../../daemon/sources/git.ts'
import { withSharedReader } from '../support/reader.ts'
import { ANYWHERE, type Remotes } from './remotes.ts'

/** What a remote is asked with, for a user whose keys and mirrors are in the folder `home`. */
export function accessFrom(
  home: string,
  { sshKeyFile }: Remotes,
): Pick<CheckoutRequest, 'reach' | 'sshKeyFile' | 'knownHostsFile' | 'mirrors' | 'holder'> {
  return {
    reach: ANYWHERE,
    sshKeyFile,
    knownHostsFile: join(home, 'known hosts'),
    mirrors: join(home, 'mirrors'),
    holder: '',
  }
}

/** Checks out the default branch into `tree` of the folder `home`, unless the options say otherwise. */
export function checkOut(
  home: string,
  remotes: Remotes,
  url: string,
  rest: Partial<CheckoutRequest> = {},
): Promise<Checkout> {
  return withSharedReader((reader) =>
    checkout({
      reader,
      url,
      branch: null,
      commit: null,
      confined: false,
      usesKeptTrees: true,
      directory: join(home, 'tree'),
      signal: new AbortController().signal,
      onLine: () => {},
      ...accessFrom(home, remotes),
      ...rest,
    }),
  )
}

/** The failure of a build whose message contains or matches this. */
export function failure(said: string | RegExp) {
  return {
    name: 'BuildFailure',
    message: (typeof said === 'string'
      ? expect.stringContaining(said)
      : expect.stringMatching(said)) as string,
  }
}
