import { readFileSync } from 'node:fs'
import { ask, echo } from './echo.ts'
import { HostEngine } from './engine.ts'
import { createGate } from './gate.ts'
import { dial } from './dial.ts'
import { createImageDoor } from './images.ts'
import { keepDataPlane } from './keeper.ts'
import { listenAddress } from './listen-address.ts'
import {
  ENGINE_SOCKET,
  ENTRY_FOLDER,
  IDENTITY_FILE,
  IMAGES_PORT,
  VARIABLES,
  type Identity,
} from './protocol.ts'
import { receive } from './receive.ts'
import { StandIn } from './stand-in.ts'

// The agent of a node. `echo` and `ask <address>` look at the network between two nodes, in containers of their own. `entry` is
// the main program of an entry, in which the server runs `dial <milliseconds>` and `receive`.
const [, , mode, argument = ''] = process.argv
if (mode === 'echo') echo()
else if (mode === 'ask') process.exitCode = await ask(argument)
else if (mode === 'entry') await keepDataPlane(ENTRY_FOLDER)
else if (mode === 'dial') await dial(ENTRY_FOLDER, Number(argument))
else if (mode === 'receive') process.stdout.write(JSON.stringify(await receive(process.stdin, ENTRY_FOLDER)))
else serve()

/** Serves until it is killed. A port that is taken ends it, and the engine starts it again. */
function serve(): void {
  const identity = JSON.parse(readFileSync(IDENTITY_FILE, 'utf8')) as Identity
  const server = new URL(`tcp://${process.env[VARIABLES.server]}`)
  const standIn = new StandIn(new HostEngine(ENGINE_SOCKET), process.env[VARIABLES.serverId] ?? '')
  void standIn.run(new AbortController().signal)
  createGate({ identity, enginePath: ENGINE_SOCKET, standIn }).listen(
    Number(process.env[VARIABLES.port]),
    listenAddress(process.env[VARIABLES.address] ?? ''),
  )
  const host = server.hostname.replace(/^\[|\]$/g, '')
  const images = createImageDoor({ identity, server: { host, port: Number(server.port) } })
  images.listen(IMAGES_PORT, '127.0.0.1')
}
