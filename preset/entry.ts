import { runCommand } from '../cli/index.ts'

// The server's modules load only for its own commands, so that the others answer at once.
await runCommand(process.argv.slice(2), {
  serve: async (args) => (await import('./serve.ts')).serve(args),
  load: async (name) => (await import('../cli/server/index.ts')).loadServerProgram(name),
  // Its class would load with the server's modules.
  isExpected: (error) => error instanceof Error && error.name === 'AppError',
})
