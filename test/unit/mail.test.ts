import { createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { sendMail } from '#daemon/notifications/mail.ts'
import { testMessage } from '#server/notifications/messages.ts'
import { openContext } from '../support/context.ts'

/** Answers a greeting with an endless list. */
function goOn(socket: Socket): void {
  socket.on('error', () => {}).write('220 mail.example.com\r\n')
  socket.once('data', () => {
    const timer = setInterval(() => socket.write('250-AND-MORE\r\n'), 10)
    socket.once('close', () => clearInterval(timer))
  })
}

test('a mail server that answers endlessly does not prevent a message from being canceled', async () => {
  const { context, close } = await openContext()
  const closed = Promise.withResolvers<void>()
  const stop = new AbortController()
  const server = createServer((socket) => {
    goOn(socket)
    socket.once('data', () => stop.abort(new Error('the server stops'))).once('close', () => closed.resolve())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  Object.assign(context.options, {
    mail: { url: `smtp://127.0.0.1:${port}`, from: 'deployer@example.com' },
  })
  try {
    await expect(
      sendMail(['ops@example.com'], 'dlv-1', testMessage('team'), stop.signal),
    ).rejects.toMatchObject({ name: 'AbortError' })
    await closed.promise
  } finally {
    server.close()
    await close()
  }
})
