// Run as a separate process by a test that kills it: it checks a repository out.
import { withReader } from '#daemon/reader/reader.ts'
import { checkout, type CheckoutRequest } from '#daemon/sources/git.ts'
import { useBuiltReader } from './reader.ts'

await useBuiltReader()
const request = JSON.parse(process.argv[2]!) as CheckoutRequest
await withReader(undefined, (reader) =>
  checkout({
    ...request,
    // A named commit, so that only one git asks the remote.
    branch: 'main',
    commit: null,
    confined: false,
    usesKeptTrees: true,
    holder: 'one',
    reach: { denyPrivate: false, ownPort: null },
    sshKeyFile: '/nonexistent',
    reader,
    signal: new AbortController().signal,
    onLine: () => {},
  }),
)
