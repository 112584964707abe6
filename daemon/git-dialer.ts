import { connect } from 'node:net'

/**
 * Connects ssh to a host through the gate (ssh_config(5), ProxyCommand): `%h` and `%p` are its arguments, the gate's port
 * and key come in its environment. It speaks SOCKS 5 with a password and sends all its messages at once without waiting
 * (RFC 1928, RFC 1929), which works because all that the gate answers has a fixed length.
 */
const [, , host = '', port = ''] = process.argv
const [gate = '', key = ''] = (process.env.DEPLOYER_GIT_GATE ?? '').split(':')
/** The chosen method, the verdict on the key, and a reply with an IPv4 address. */
const REPLY_BYTES = 2 + 2 + 10
/** The offset of the byte that says whether the gate connected; 0 means yes. */
const VERDICT = 2 + 2 + 1

const number = Buffer.alloc(2)
number.writeUInt16BE(Number(port))
const text = (value: string): Buffer =>
  Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')])
const socket = connect({ port: Number(gate), host: '127.0.0.1', noDelay: true })
socket.write(
  Buffer.concat([
    Buffer.from([5, 1, 2]),
    Buffer.from([1]),
    text('git'),
    text(key),
    Buffer.from([5, 1, 0, 3]),
    text(host),
    number,
  ]),
)
socket.once('error', () => process.exit(1))

let head = Buffer.alloc(0)
const onHead = (piece: Buffer): void => {
  head = Buffer.concat([head, piece])
  if (head.length < REPLY_BYTES) return
  socket.off('data', onHead)
  if (head[VERDICT] !== 0) process.exit(1)
  process.stdout.write(head.subarray(REPLY_BYTES))
  socket.pipe(process.stdout)
  process.stdin.pipe(socket)
}
socket.on('data', onHead).once('close', () => process.exit(0))
