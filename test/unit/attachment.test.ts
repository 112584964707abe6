import { Duplex } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { Attachment } from '#daemon/engine/attachment.ts'

/** A frame of the engine's stream. */
function frame(stream: 1 | 2, payload: string): Buffer {
  const header = Buffer.alloc(8)
  header[0] = stream
  header.writeUInt32BE(Buffer.byteLength(payload), 4)
  return Buffer.concat([header, Buffer.from(payload)])
}

/** A connection on which these chunks arrive; what is written to it is recorded. */
function socketOf(chunks: Buffer[], written: Buffer[] = []): Duplex {
  return new Duplex({
    read() {
      this.push(chunks.shift() ?? null)
    },
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk)
      setImmediate(done)
    },
    highWaterMark: 4,
  })
}

async function outputOf(attachment: Attachment): Promise<string> {
  let text = ''
  for await (const chunk of attachment.output()) text += chunk.toString()
  return text
}

const never = new AbortController().signal

describe('an attachment', () => {
  const bytes = Buffer.concat([frame(1, 'one '), frame(2, 'a warning'), frame(1, ''), frame(1, 'two')])

  test.each(Array.from({ length: bytes.length - 1 }, (_, at) => at + 1))(
    'reads the output the same when it arrives in two parts, cut after byte %s',
    async (at) => {
      const attachment = new Attachment(socketOf([bytes.subarray(0, at), bytes.subarray(at)]), never)
      expect(await outputOf(attachment)).toBe('one two')
      expect(attachment.errors).toBe('a warning')
    },
  )

  test("keeps the end of a program's error output", async () => {
    const attachment = new Attachment(socketOf([frame(2, 'x'.repeat(10_000)), frame(2, 'the reason')]), never)
    expect(await outputOf(attachment)).toBe('')
    expect(attachment.errors).toHaveLength(4_096)
    expect(attachment.errors).toMatch(/xthe reason$/)
  })

  test("writes the input in order, at the program's pace, and ends it", async () => {
    const written: Buffer[] = []
    const socket = socketOf([], written)
    async function* source() {
      for (let i = 0; i < 100; i++) yield await Promise.resolve(Buffer.from(`${i},`))
    }
    await new Attachment(socket, never).input(source())
    await new Promise((resolve) => socket.once('finish', resolve))
    expect(Buffer.concat(written).toString()).toBe(Array.from({ length: 100 }, (_, i) => `${i},`).join(''))
  })

  test('stops writing to a program that is gone', async () => {
    const socket = socketOf([])
    let asked = 0
    async function* source() {
      for (;;) {
        if (++asked === 3) socket.destroy()
        yield await Promise.resolve(Buffer.from('more'))
      }
    }
    await new Attachment(socket, never).input(source())
    expect(asked).toBeLessThan(6)
  })
})
