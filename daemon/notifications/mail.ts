import { useContext } from '#server/context.ts'
import { AppError } from '#server/errors.ts'
import type { Message } from '#server/notifications/types.ts'

/** A mail server that has not answered by then does not answer. */
const ANSWER_WITHIN_MS = 15_000

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
    connectionTimeout: ANSWER_WITHIN_MS,
    greetingTimeout: ANSWER_WITHIN_MS,
    socketTimeout: ANSWER_WITHIN_MS,
    // Nothing of a message is a file's or a URL's name.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const close = () => transport.close()
  signal.addEventListener('abort', close, { once: true })
  try {
    await transport.sendMail({
      from: mail.from,
      to,
      subject: message.text.title,
      text: `${message.text.body}\n\n${message.type}, ${message.timestamp}\n`,
      messageId: `<${id}@${mail.from.replace(/^.*@/, '').replace(/>$/, '')}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}
