import { createHmac } from 'node:crypto'
import { useContext } from '#server/context.ts'
import { messageOf } from '#server/errors.ts'
import { answerFault, send } from '#server/network/outgoing.ts'
import { openUrl, topicOf } from '#server/notifications/operations.ts'
import type { NotificationRow } from '#server/notifications/store.ts'
import type { Message } from '#server/notifications/types.ts'
import { plainLine } from '#server/text/plain-line.ts'
import { sendMail } from './mail.ts'

/** The result of an attempt; `status` is that of the answer, if there is one. */
export interface Outcome {
  ok: boolean
  status: number | null
  error: string | null
}

/** Length of a destination's error as it is shown. */
const MAX_ERROR_CHARACTERS = 500
/** Discord refuses longer content (developer documentation, "Execute Webhook"). */
const DISCORD_CHARACTERS = 2_000
/** Messages that get a high priority at ntfy. */
const URGENT_TYPES = /\.(failed|down|out_of_memory|missed|disk_low|expiring)$/

/** Sends a message to the destination of a notification. Never throws. */
export async function deliver(
  row: NotificationRow,
  id: string,
  message: Message,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    if (row.kind === 'email') {
      await sendMail(JSON.parse(row.recipients) as string[], id, message, signal)
      return { ok: true, status: null, error: null }
    }
    const { headers, body, url } = requestOf(row, id, message)
    const answer = await send({ method: 'POST', url, headers, body, signal })
    const error = answerFault(answer)
    return { ok: error === null, status: answer.status, error }
  } catch (error) {
    return { ok: false, status: null, error: plainLine(messageOf(error), MAX_ERROR_CHARACTERS) }
  }
}

function requestOf(
  row: NotificationRow,
  id: string,
  message: Message,
): { url: string; headers: Record<string, string>; body: string } {
  const url = openUrl(row)!
  const { title, body } = message.text
  const text = body === '' ? title : `${title}\n${body}`
  const json = { 'content-type': 'application/json' }
  switch (row.kind) {
    case 'slack':
      return { url, headers: json, body: JSON.stringify({ text: forSlack(title, body) }) }
    case 'discord':
      return {
        url,
        headers: json,
        // Names in it must not mention anybody.
        body: JSON.stringify({ content: text.slice(0, DISCORD_CHARACTERS), allowed_mentions: { parse: [] } }),
      }
    case 'ntfy': {
      const target = new URL(url)
      const topic = topicOf(target)
      const above = target.pathname.split('/').filter((part) => part !== '')
      target.pathname = ['', ...above.slice(0, -1), ''].join('/')
      const priority = URGENT_TYPES.test(message.type) ? 4 : 3
      return {
        url: target.href,
        headers: json,
        body: JSON.stringify({
          topic,
          title,
          message: body === '' ? title : body,
          priority,
        }),
      }
    }
    default:
      return signed(url, useContext().vault.open(row.secret!), id, message)
  }
}

/** Returns a request as Standard Webhooks specifies: the id, the time of this attempt and the body are signed. */
function signed(url: string, secret: string, id: string, { type, timestamp, server, data }: Message) {
  const body = JSON.stringify({ type, timestamp, server, data })
  const sentAt = String(Math.floor(Date.now() / 1_000))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${sentAt}.${body}`).digest('base64')
  return {
    url,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': sentAt,
      'webhook-signature': `v1,${signature}`,
    },
    body,
  }
}

/** Formats for Slack, whose three special characters are escaped (developer documentation, "Formatting text"). */
function forSlack(title: string, body: string): string {
  const escape = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return body === '' ? `*${escape(title)}*` : `*${escape(title)}*\n${escape(body)}`
}
