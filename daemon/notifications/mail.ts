import { useContext } from '#server/context.ts'
import { AppError } from '#server/errors.ts'
import type { Message } from '#server/notifications/types.ts'

/** A mail server that says nothing for so long does not answer. */
const SILENCE_MS = 15_000
/** A message is short: who has not taken it by then never does, however long it goes on answering. */
const TAKEN_WITHIN_MS = 60_000

/** Sends a message by e-mail; the id is the mail's own, so that a repeated one is known as such. Throws what the mail server says. */
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
    // Nothing of a message is a file's or a URL's name.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const late = AbortSignal.timeout(TAKEN_WITHIN_MS)
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
    throw new Error(`the mail server did not take it within ${TAKEN_WITHIN_MS / 1_000} s`, { cause: error })
  } finally {
    transport.close()
  }
}
