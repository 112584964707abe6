import { onScopeDispose, shallowReadonly, shallowRef, type Ref } from 'vue'
import { problemText } from '../api/client.ts'
import { sentence, plainText } from '../api/plain-text.ts'
import type { Shell } from '../api/types.ts'

const PROTOCOL = 'deployer.shell.v1'
/** The server takes messages of up to 1 MiB, and a long text may be pasted. */
const MAX_MESSAGE_BYTES = 64 * 1024
/** How much is shown between two messages that say so; the server waits at 512 KiB. */
const ACK_BYTES = 64 * 1024
const ENDED = 1000
/** Browsers do not say why. */
const NOT_CONNECTED =
  'The shell was started, but no connection to it could be made. If a proxy is in front of the server, it must pass WebSockets.'

export interface Size {
  rows: number
  cols: number
}

/** What shows the output of a program. */
interface Screen {
  readonly rows: number
  readonly cols: number
  /** Shows bytes, and calls back once they are drawn. */
  write(bytes: Uint8Array, drawn: () => void): void
}

export type SessionState =
  | { kind: 'closed' }
  | { kind: 'opening' }
  | { kind: 'open'; container: string; isFresh: boolean }
  /** The program ended by itself, or why it had to. */
  | { kind: 'ended'; exitCode: number | null; reason: string }
  /** It could not be opened. */
  | { kind: 'refused'; reason: string }

export interface ShellSession {
  state: Readonly<Ref<SessionState>>
  /** Opens a shell; the one before ends. */
  open(screen: Screen, start: (size: Size) => Promise<Shell>): Promise<void>
  type(bytes: Uint8Array<ArrayBuffer>): void
  resize(size: Size): void
  close(): void
}

/** A shell of the server at a time, which ends with the component. */
export function useShellSession(): ShellSession {
  const state = shallowRef<SessionState>({ kind: 'closed' })
  let socket: WebSocket | null = null

  function close(): void {
    const former = socket
    socket = null
    former?.close(ENDED)
    state.value = { kind: 'closed' }
  }

  async function open(screen: Screen, start: (size: Size) => Promise<Shell>): Promise<void> {
    close()
    const asked: SessionState = { kind: 'opening' }
    state.value = asked
    const size = { rows: screen.rows, cols: screen.cols }
    try {
      const shell = await start(size)
      // Nobody waits for it any more: it ends with its ticket.
      if (state.value !== asked) return
      connect(screen, shell, size)
    } catch (problem) {
      if (state.value === asked) state.value = { kind: 'refused', reason: problemText(problem) }
    }
  }

  function connect(screen: Screen, shell: Shell, size: Size): void {
    const made = new WebSocket(addressOf(shell), PROTOCOL)
    made.binaryType = 'arraybuffer'
    socket = made
    const output = new Output(made, screen)
    const opening = state.value
    made.addEventListener('open', () => {
      if (socket !== made) return
      // From now on the server sends no more than can be shown.
      made.send(JSON.stringify({ ack: 0 }))
      state.value = { kind: 'open', container: shell.container, isFresh: shell.container === shell.id }
      if (screen.rows !== size.rows || screen.cols !== size.cols) resize(screen)
    })
    made.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (socket === made) output.take(data)
    })
    made.addEventListener('close', ({ reason }) => {
      if (socket !== made) return
      socket = null
      const { exitCode } = output
      if (state.value === opening) state.value = { kind: 'refused', reason: NOT_CONNECTED }
      else state.value = { kind: 'ended', exitCode, reason: reasonOf(reason, exitCode) }
    })
  }

  function type(bytes: Uint8Array<ArrayBuffer>): void {
    if (socket?.readyState !== WebSocket.OPEN) return
    for (let at = 0; at < bytes.length; at += MAX_MESSAGE_BYTES)
      socket.send(bytes.subarray(at, at + MAX_MESSAGE_BYTES))
  }

  function resize({ rows, cols }: Size): void {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ resize: [rows, cols] }))
  }

  onScopeDispose(close)
  return { state: shallowReadonly(state), open, type, resize, close }
}

/** Not every browser takes a relative one. */
function addressOf({ path, ticket }: Shell): URL {
  const address = new URL(`${path}?${new URLSearchParams({ ticket })}`, location.href)
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:'
  return address
}

/** Shows what comes from the server, and says how much of it is shown. */
class Output {
  /** Known once the program has ended by itself. */
  exitCode: number | null = null
  readonly #socket: WebSocket
  readonly #screen: Screen
  #shown = 0
  #acknowledged = 0

  constructor(socket: WebSocket, screen: Screen) {
    this.#socket = socket
    this.#screen = screen
  }

  take(data: ArrayBuffer | string): void {
    if (typeof data === 'string')
      this.exitCode = (JSON.parse(data) as { exit_code?: number }).exit_code ?? null
    else this.#screen.write(new Uint8Array(data), () => this.#drawn(data.byteLength))
  }

  #drawn(bytes: number): void {
    this.#shown += bytes
    if (this.#shown - this.#acknowledged < ACK_BYTES || this.#socket.readyState !== WebSocket.OPEN) return
    this.#acknowledged = this.#shown
    this.#socket.send(JSON.stringify({ ack: this.#shown }))
  }
}

function reasonOf(given: string, exitCode: number | null): string {
  if (exitCode !== null) return `The program ended with exit code ${exitCode}.`
  if (given !== '') return `${sentence(plainText(given))}.`
  return 'The connection was lost, and the program ended with it.'
}
