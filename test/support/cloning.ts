// Run as a separate process by a test that kills it: it starts a git that never ends by itself.
import { withGit } from '#daemon/sources/git-command.ts'
import { useBuiltReader } from './reader.ts'

await useBuiltReader()
await withGit(new AbortController().signal, (git) =>
  git.run({ arguments: ['-c', 'alias.wait=!exec sleep 600', 'wait'], environment: {} }),
)
