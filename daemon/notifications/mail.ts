import { useContext } from '#server/context.ts'
import { AppError } from '#server/errors.ts'
import type { Message } from '#server/notifications/types.ts'

/** A mail server that is silent for this long does not answer. */
const SILENCE_MS = 15_000
/** A message is short: a server that has not accepted it by then never will, even if it keeps answering. */
const ACCEPT_TIMEOUT_MS = 60_000

/** Sends a message by e-mail, with its id as Message-ID so that repeats are recognized. Throws the mail server's error. */
export async function sendMail(
  to: string[],
  id: string,
  message: Message,
  signal: AbortSignal,
): Promise<void> {
  const { mail } = useContext().options
  if (!mail)
    throw new AppError(
      'invalid_request',
      'there is no mail server: start the server with --smtp-url and --smtp-from',
    )
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url: mail.url,
    connectionTimeout: SILENCE_MS,
    greetingTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
    // No part of a message is the name of a file or URL to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const late = AbortSignal.timeout(ACCEPT_TIMEOUT_MS)
  try {
    await transport.sendMail({
      from: mail.from,
      to,
      subject: message.text.title,
      text: `${message.text.body}\n\n${message.type}, ${message.timestamp}\n`,
      messageId: `<${id}@${mail.from.replace(/^.*@/, '').replace(/>$/, '')}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal: AbortSignal.any([signal, late]),
    })
  } catch (error) {
    if (!late.aborted) throw error
    throw new Error(`the mail server did not accept the message within ${ACCEPT_TIMEOUT_MS / 1_000} s`, {
      cause: error,
    })
  } finally {
    transport.close()
  }
}
