import { readFileSync } from 'node:fs'
import { ask, echo } from './echo.ts'
import { createGate } from './gate.ts'
import { createImageDoor } from './images.ts'
import { listenAddress } from './listen-address.ts'
import { ENGINE_SOCKET, IDENTITY_FILE, IMAGES_PORT, VARIABLES, type Identity } from './protocol.ts'

// The agent of a node. `echo` and `ask <address>` look at the network between two nodes, in containers of their own.
const [, , mode, address = ''] = process.argv
if (mode === 'echo') echo()
else if (mode === 'ask') process.exitCode = await ask(address)
else serve()

/** Serves until it is killed. A port that is taken ends it, and the engine starts it again. */
function serve(): void {
  const identity = JSON.parse(readFileSync(IDENTITY_FILE, 'utf8')) as Identity
  const server = new URL(`tcp://${process.env[VARIABLES.server]}`)
  createGate({ identity, enginePath: ENGINE_SOCKET }).listen(
    Number(process.env[VARIABLES.port]),
    listenAddress(process.env[VARIABLES.address] ?? ''),
  )
  const host = server.hostname.replace(/^\[|\]$/g, '')
  const images = createImageDoor({ identity, server: { host, port: Number(server.port) } })
  images.listen(IMAGES_PORT, '127.0.0.1')
}
