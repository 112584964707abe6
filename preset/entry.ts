import '#nitro-internal-pollyfills'
import { runCommand } from '../cli/index.ts'

// The server's modules load only for `serve`, so that the other commands answer at once.
await runCommand(process.argv.slice(2), async (argv) => (await import('./serve.ts')).serve(argv))
