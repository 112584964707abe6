import { z } from 'zod'
import type { SocketResponse } from '../http/web-socket.ts'
import { idSchema, text, Timestamp } from '../schema.ts'

/** The same limit as for a job's command. */
const MAX_COMMAND_CHARACTERS = 16 * 1024
/** Larger than any screen. */
const MAX_LINES = 1_000

const lines = (what: string, example: number) =>
  z
    .int()
    .min(1)
    .max(MAX_LINES)
    .meta({ description: `How many ${what} the terminal has`, examples: [example] })

/** The size of a terminal, as a new shell and the text `{"resize": [rows, cols]}` give it. */
export const TerminalSize = { rows: lines('rows', 24), cols: lines('columns', 80) }

export const ShellInput = z
  .strictObject({
    ...TerminalSize,
    instance: z
      .string()
      .min(1)
      .optional()
      .meta({
        description:
          'The name of an instance, or what follows its last hyphen; when absent, one of the live version',
        examples: ['srv-4f1d0c9a7b3e5d2f6a80-1a2b3'],
      }),
    fresh: z
      .boolean()
      .default(false)
      .meta({
        description:
          'A new container from the live image, with the current variables and secret files, without disks, removed at the end',
        examples: [false],
      }),
    command: text(MAX_COMMAND_CHARACTERS)
      .refine((line) => line.trim() !== '', 'must not be empty: leave it out for a shell')
      .optional()
      .meta({ description: 'Runs with `sh -c`; when absent, bash or else sh', examples: ['bin/console'] }),
  })
  .refine(({ instance, fresh }) => instance === undefined || !fresh, {
    path: ['fresh'],
    message: 'excludes instance',
  })
  .meta({
    id: 'ShellInput',
    examples: [
      { rows: 24, cols: 80 },
      { rows: 24, cols: 80, fresh: true, command: 'bin/console' },
    ],
  })
export type ShellInput = z.output<typeof ShellInput>

export const DatastoreShellInput = z.strictObject(TerminalSize).meta({ id: 'DatastoreShellInput' })
export type DatastoreShellInput = z.output<typeof DatastoreShellInput>

export const Shell = z
  .object({
    id: idSchema('shell'),
    ticket: z.string().meta({
      description: 'Opens the WebSocket once, within 30 seconds, as `ticket` in its query',
      examples: ['4f1d0c9a7b3e5d2f6a804f1d0c9a7b3e5d2f6a804f1d0c9a7b3e5d2f6a80abcd'],
    }),
    path: z.string().meta({
      description: 'Where the WebSocket is',
      examples: ['/api/v1/shells/shl-4f1d0c9a7b3e5d2f6a80/socket'],
    }),
    container: z.string().meta({
      description: 'The instance or datastore that it is in; the id of the shell for a fresh container',
      examples: ['srv-4f1d0c9a7b3e5d2f6a80-1a2b3'],
    }),
    expires_at: Timestamp,
  })
  .meta({ id: 'Shell', description: 'A program with a terminal that has been started' })
export type Shell = z.infer<typeof Shell>

export const ShellQuery = z.strictObject({
  ticket: z.string().meta({
    description: 'From the answer that the shell was opened with',
    examples: ['4f1d0c9a7b3e5d2f6a804f1d0c9a7b3e5d2f6a804f1d0c9a7b3e5d2f6a80abcd'],
  }),
})

export const ShellPath = z.strictObject({
  id: z.string().meta({ description: 'Id of the shell', examples: ['shl-4f1d0c9a7b3e5d2f6a80'] }),
})

/** What a client may send as text. */
export const ShellMessage = z.union([
  z.strictObject({ resize: z.tuple([TerminalSize.rows, TerminalSize.cols]) }),
  z.strictObject({ ack: z.int().min(0) }),
])

/** What the endpoint of the socket answers with. */
export const SHELL_SOCKET: SocketResponse = {
  subprotocol: 'deployer.shell.v1',
  description:
    'A WebSocket of the subprotocol `deployer.shell.v1`: binary messages carry what is typed and what is printed, text messages are JSON',
}

/** What the audit log says of a shell that was opened: not what it runs, since that may hold a password. */
export function openedAs({ id, container }: Shell, { command }: Partial<ShellInput>): string[] {
  const where = container === id ? 'a fresh container' : container
  return [`shell: ${id}`, `in: ${where}`, ...(command === undefined ? [] : ['command: set'])]
}
