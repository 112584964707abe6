import { Socket } from 'node:net'

const MIB = 1024 * 1024
/** Every answer that the server ever needs from a datastore has some KiB. */
export const MAX_ANSWER_BYTES = MIB

/** Returns the error for a program whose answer is too long. */
export function answerTooLong(): Error {
  return new Error(`it answers with more than ${MAX_ANSWER_BYTES / MIB} MiB`)
}

/**
 * Returns a socket for one query to a program in a user's container, which may send anything. Client libraries buffer a
 * message of whatever length it announces, so a longer answer is cut off before it fills the memory.
 */
export function boundedSocket(): Socket {
  const socket = new Socket()
  return socket.on('data', () => {
    if (socket.bytesRead > MAX_ANSWER_BYTES) socket.destroy(answerTooLong())
  })
}
