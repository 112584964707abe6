import { runCommand } from './index.ts'

await runCommand(process.argv.slice(2), null)
