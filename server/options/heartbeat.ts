import { AppError } from '../errors.ts'
import { bareHost, hostFault, portOf } from '../network/addresses.ts'
import { title } from './flags.ts'
import type { Readers } from './readers.ts'
import type { SecretForm } from './secrets.ts'

/** The path of many such URLs is all that is needed to report in the server's place. */
const FORM: SecretForm = {
  pattern: /^https?:\/\/[!-~]+$/,
  wanted: 'a URL such as https://heartbeat.example.com/0123456789abcdef',
}

/** The URL that heartbeats go to, or null. Throws `invalid_request`, which repeats no more of it than its host. */
export function readHeartbeatUrl(secret: Readers['secret']): string | null {
  const text = secret('heartbeat-url', FORM)
  if (text === null) return null
  const url = URL.parse(text)
  if (!url) throw new AppError('invalid_request', `${title('heartbeat-url')} must be ${FORM.wanted}`)
  const fault = hostFault(bareHost(url.hostname), portOf(url), { denyPrivate: false, ownPort: null })
  if (fault === null) return text
  throw new AppError('invalid_request', `${title('heartbeat-url')}: ${url.hostname} ${fault}`)
}
