import { assertSeesSecrets } from '../access/check.ts'
import { assertVerified } from '../accounts/second-factors/verified.ts'
import { record } from '../audit/recording.ts'
import type { Resource } from '../audit/schema.ts'
import { onChange } from '../changes.ts'
import { timestamp } from '../clock.ts'
import { useContext, useDatabase } from '../context.ts'
import { AppError, messageOf } from '../errors.ts'
import type { Opener } from '../http/opener.ts'
import type { OfferedSocket } from '../http/web-socket.ts'
import { newId, randomHex } from '../ids.ts'
import { logger } from '../log.ts'
import { schedule } from '../options/schedule.ts'
import { assertUnfenced } from '../restore/fence.ts'
import type { Shell as ShellView } from './schema.ts'
import { CLOSE, Shell, type ShellEnd, type ShellProgram } from './shell.ts'

/** Each is a program in a container, and one person looks at one or two. */
const MAX_SHELLS = 5
const TICKET_BYTES = 32

const log = logger('shells')

interface Opened {
  shell: Shell
  opener: Opener
}

/** Those that are open, opening or closing, by their ids. */
const open = new Map<string, Opened | null>()

/** Whether a shell has not ended yet. */
export function isOpenShell(id: string): boolean {
  return open.has(id)
}

/** What a shell is started in, for the audit log and the answer. */
export interface Started {
  program: ShellProgram
  container: string
  resource: Resource
}

/**
 * Starts a program with a terminal, and issues the ticket of the client who may use it. `start` gets the id of the shell. The
 * shell ends with its client, and with the credentials of its opener. Throws `forbidden`, `second_factor_required`,
 * `conflict`, and what `start` throws.
 */
export async function openShell(opener: Opener, start: (id: string) => Promise<Started>): Promise<ShellView> {
  assertSeesSecrets()
  assertVerified(opener.principal)
  assertUnfenced()
  if (open.size >= MAX_SHELLS)
    throw new AppError('conflict', `${MAX_SHELLS} shells are open, the most at a time: close one`)
  const id = newId('shell')
  open.set(id, null)
  try {
    const { program, container, resource } = await start(id)
    const began = performance.now()
    const ticket = randomHex(TICKET_BYTES)
    const attempt = opener.attempt('shell.closed')
    const fields = { id, container, by: attempt.actor.name ?? attempt.actor.kind }
    log.info('a shell was opened', fields)
    const shell: Shell = new Shell(program, ticket, (end) => {
      const seconds = Math.round((performance.now() - began) / 1_000)
      forget()
      log.info('a shell has ended', { ...fields, seconds, reason: end.reason })
      recordEnd(() =>
        record(useDatabase(), attempt, 'succeeded', { resource, changes: changesOf(id, seconds, end) }),
      )
      void program
        .close()
        .catch((error: unknown) => log.warn('a shell could not be ended', { id, error: messageOf(error) }))
        .finally(() => open.delete(id))
    })
    const opened = { shell, opener }
    open.set(id, opened)
    const forget = endInTime(opened)
    const expires = timestamp(Date.now() + schedule.shellTicketMs)
    return { id, ticket, path: `/api/v1/shells/${id}/socket`, container, expires_at: expires }
  } catch (error) {
    open.delete(id)
    throw error
  }
}

/**
 * Connects the client with the ticket to its shell, until either leaves. Throws `unauthorized`, `upgrade_required` or
 * `invalid_request` before the connection is taken over.
 */
export async function joinShell(id: string, ticket: string, offered: OfferedSocket): Promise<void> {
  offered.assertPossible()
  const opened = open.get(id)
  // Nothing announces that its credentials have expired, or were revoked by a command on the host.
  if (opened) checkOpener(opened)
  if (!opened?.shell.claim(ticket)) {
    const seconds = Math.round(schedule.shellTicketMs / 1_000)
    throw new AppError(
      'unauthorized',
      `the ticket is not valid: it opens its shell once, within ${seconds} seconds; open another shell`,
    )
  }
  const { shell } = opened
  const client = offered.accept()
  if (client) await shell.attach(client)
  else shell.end(CLOSE.ended, 'the client left')
}

/** Ends a shell with the credentials of its opener, with what it is in, and with the server. */
function endInTime(opened: Opened): () => void {
  const { shell, opener } = opened
  const { stopping } = useContext()
  const stop = () => shell.end(CLOSE.goingAway, 'the server stops')
  const forgetCredentials = opener.watch(() => checkOpener(opened))
  const forgetChanges = onChange(({ kind }) => {
    if (kind === 'service' || kind === 'datastore' || kind === 'all') shell.check()
  })
  stopping.addEventListener('abort', stop, { once: true })
  // Any of them may have changed while the program was started. The end needs what this returns.
  queueMicrotask(() => {
    checkOpener(opened)
    shell.check()
    if (stopping.aborted) stop()
  })
  return () => {
    forgetCredentials()
    forgetChanges()
    stopping.removeEventListener('abort', stop)
  }
}

/** Ends a shell whose opener may no longer use it. */
function checkOpener({ shell, opener }: Opened): void {
  if (!opener.isAllowed())
    shell.end(CLOSE.notAllowed, 'the session or API token that opened it is no longer valid')
}

function changesOf(id: string, seconds: number, { reason, exitCode }: ShellEnd): string[] {
  return [
    `shell: ${id}`,
    `seconds: ${seconds}`,
    ...(exitCode === null ? [`reason: ${reason}`] : [`exit code: ${exitCode}`]),
  ]
}

function recordEnd(write: () => void): void {
  try {
    write()
  } catch (error) {
    log.error('the end of a shell could not be recorded', { error: messageOf(error) })
  }
}
