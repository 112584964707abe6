import type { ServerInfo } from '#server/info.ts'
import { VERSION } from '#server/version.ts'
import type { Call } from '../../call.ts'
import { userName } from '../../this-user.ts'
import { connect } from '../api.ts'

const HINT_CHARACTERS = 4

/** Shows which server a command would use, and what it proves itself with; never the token. */
export async function whoami(call: Call): Promise<void> {
  const api = await connect(call)
  const { version } = await api.get<ServerInfo>('/info')
  const { url, alias, token, tokenFrom } = api.server
  api.close()
  const facts = {
    user: userName(),
    host: url,
    alias,
    server_version: version,
    client_version: VERSION,
    token_from: tokenFrom,
    token_hint: token!.slice(-HINT_CHARACTERS),
  }
  if (call.out.isJson) return call.out.json(facts)
  const rows: [string, string][] = [
    ['user', facts.user],
    ['server', alias === null ? url : `${url} (${alias})`],
    ['server version', version],
    ['client version', VERSION],
    ['token', `…${facts.token_hint} (${tokenFrom})`],
  ]
  for (const [name, text] of rows)
    call.out.line(call.out.isTerminal ? `${name.padEnd(16)}${text}` : `${name}\t${text}`)
}
