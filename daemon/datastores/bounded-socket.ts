import { Socket } from 'node:net'

const MIB = 1024 * 1024
/** All that the server ever asks a datastore is answered in some KiB. */
export const MAX_HEARD_BYTES = MIB

/** Why such a program is not heard further. */
export function saysTooMuch(): Error {
  return new Error(`it answers with more than ${MAX_HEARD_BYTES / MIB} MiB`)
}

/**
 * A socket for one question to a program in a user's container, which may say anything: one that says more than any answer has is cut off
 * before it fills the memory, as clients gather a message of whatever length it announces.
 */
export function boundedSocket(): Socket {
  const socket = new Socket()
  return socket.on('data', () => {
    if (socket.bytesRead > MAX_HEARD_BYTES) socket.destroy(saysTooMuch())
  })
}
