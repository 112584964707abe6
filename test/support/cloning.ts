// Run as a process of its own by a test that kills it: it starts a git that never ends by itself.
import { runGit } from '#daemon/sources/git-command.ts'
import { useReaderOfCheckout } from './reader.ts'

useReaderOfCheckout()
await runGit({
  arguments: ['-c', 'alias.wait=!exec sleep 600', 'wait'],
  environment: {},
  signal: new AbortController().signal,
})
