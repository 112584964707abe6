import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { LogWriter } from '#server/logs/file-writer.ts'
import type { LogLine } from '#server/logs/lines.ts'

const LONG = 'x'.repeat(1_000)

/** A disk with so much space next to a file that can be removed. */
async function openDisk(roomBytes: number): Promise<{ log: string; ballast: string }> {
  const disk = mkdtempSync(join(tmpdir(), 'log-writer-'))
  await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk])
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', disk])
    rmSync(disk, { recursive: true, force: true })
  })
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(bavail * bsize - roomBytes))
  return { log: join(disk, 'log'), ballast: join(disk, 'ballast') }
}

function linesOf(path: string): string[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  return lines.map((line) => (JSON.parse(line) as LogLine).line)
}

async function fill(writer: LogWriter, from: number, to: number): Promise<void> {
  for (let n = from; n <= to; n++) writer.output('stdout', `${n} ${LONG}`)
  await writer.flushed()
}

test('a log continues once the disk has space again, and says how many lines it lacks', async () => {
  const { log, ballast } = await openDisk(20_480)
  const writer = new LogWriter(log, { grown: () => {}, closed: () => {} })
  await fill(writer, 1, 30)
  await fill(writer, 31, 40)
  rmSync(ballast)
  writer.system('after it')
  await writer.close()
  const lines = linesOf(log)
  const kept = lines.filter((line) => line.endsWith(LONG)).map((line) => parseInt(line))
  expect(kept.length).toBeLessThan(30)
  expect(kept).toEqual(Array.from(kept, (_, index) => index + 1))
  // The last of the space may have taken the note that lines are missing.
  const notes = lines.slice(kept.length, -1)
  const lost = notes.map((line) => /^(\d+) lines were lost here: the disk did not take it$/.exec(line)![1])
  expect(lost.reduce((sum, count) => sum + Number(count), kept.length)).toBe(40)
  expect(lines.at(-1)).toBe('after it')
})

test('a log whose end did not fit on the disk says so when it is closed', async () => {
  const { log } = await openDisk(0)
  const writer = new LogWriter(log, { grown: () => {}, closed: () => {} })
  writer.system('live')
  await expect(writer.close()).rejects.toMatchObject({ code: 'ENOSPC' })
  expect(readFileSync(log, 'utf8')).toBe('')
})

test('a line that a full disk tore, and that could not even be cut off, is not joined to the next', async () => {
  const { log, ballast } = await openDisk(20_480)
  const writer = new LogWriter(log, { grown: () => {}, closed: () => {} })
  const handle = await open(ballast)
  const truncate = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'truncate')
  onTestFinished(() => truncate.mockRestore())
  await handle.close()
  truncate.mockRejectedValueOnce(new Error('EIO'))
  await fill(writer, 1, 30)
  expect(truncate).toHaveBeenCalledOnce()
  expect(readFileSync(log, 'utf8').endsWith('\n')).toBe(false)
  rmSync(ballast)
  writer.system('after it')
  await writer.close()
  const lines = linesOf(log)
  expect(lines.at(-2)).toMatch(/^\d+ lines were lost here: /)
  expect(lines.at(-1)).toBe('after it')
})
