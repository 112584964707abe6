import { Transform, type Readable } from 'node:stream'
import type { Deploy } from '#server/deploys/schema.ts'
import { EXIT, Fault } from '../../fault.ts'
import type { Output } from '../../output.ts'
import { ApiFault, type Api } from '../api.ts'
import { sizeText } from '../figures.ts'
import type { Contents } from './entries.ts'
import { LIMIT_BYTES, load } from './load.ts'
import { Progress } from './progress.ts'

/** An upload of which nothing can be sent for so long is over. */
const SILENCE_MS = 60_000
/** As many as show what is missing. */
const SHOWN = 5

interface Upload {
  /** Of the service. */
  id: string
  folder: string
  contents: Contents
  clearCache: boolean
  signal: AbortSignal
}

/**
 * Packs a folder and sends it to be deployed. Resolves with the queued deploy. Throws Fault for what cannot be packed and what
 * the server refuses; there is no deploy then.
 */
export async function upload(api: Api, out: Output, upload: Upload): Promise<Deploy> {
  const { contents, signal } = upload
  const size = `${countText(contents.files)}, ${sizeText(contents.bytes)}`
  if (!out.mayDraw) out.note(`Packing ${size}`)
  const reading = new Progress(out, 'Packing', contents.bytes)
  const began = performance.now()
  let sent = 0
  let isWhole = false
  try {
    const { body, bytes } = await load(
      upload.folder,
      contents,
      (read) => reading.add(read),
      LIMIT_BYTES,
      signal,
    )
    signal.throwIfAborted()
    // What is packed while it is sent has one bar.
    if (bytes === null) reading.what = 'Sending'
    const sending = bytes === null ? null : new Progress(out, 'Sending', bytes)
    const counted = counting(body, (count) => {
      sent += count
      sending?.add(count)
    })
    counted.once('end', () => (isWhole = true))
    const deploy = await api.upload<Deploy>(`/services/${upload.id}/deploys/upload`, counted, {
      query: { clear_cache: upload.clearCache || null },
      bytes,
      limitMs: SILENCE_MS,
      signal,
    })
    sending?.clear()
    reading.clear()
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    out.note(`Sent ${out.mayDraw ? `${size} (${sizeText(sent)} packed)` : sizeText(sent)} in ${seconds} s`)
    return deploy
  } catch (error) {
    reading.clear()
    throw explain(error, signal, isWhole)
  }
}

export function countText(files: number): string {
  return files === 1 ? '1 file' : `${files} files`
}

/** Says what was found and cannot be packed. */
export function noteUnpackable(out: Output, { unpackable }: Contents): void {
  if (unpackable.length === 0) return
  const more = unpackable.length > SHOWN ? ` and ${unpackable.length - SHOWN} more` : ''
  const names = out.cleaned(unpackable.slice(0, SHOWN).join(', '), process.stderr)
  out.note(`Left out, since sockets, pipes and devices cannot be packed: ${names}${more}`)
}

function counting(body: Readable, count: (bytes: number) => void): Readable {
  const counter = new Transform({
    transform(piece: Buffer, _encoding, done) {
      count(piece.length)
      done(null, piece)
    },
  })
  body.once('error', (error) => counter.destroy(error))
  counter.once('close', () => body.destroy())
  return body.pipe(counter)
}

/** The fault of an upload that was cut; one of the folder or the server says enough itself. */
function explain(error: unknown, signal: AbortSignal, isWhole: boolean): unknown {
  const isLeft = signal.aborted
  if (!isLeft && !isCut(error)) return error
  const what = isLeft ? 'interrupted' : (error as Error).message
  const advice = isWhole
    ? 'deployer deploys shows whether it was deployed'
    : 'nothing was deployed; run it again'
  return new Fault(isLeft ? EXIT.interrupted : EXIT.noConnection, `${what}; ${advice}`, { cause: error })
}

/** Whether the connection was lost, before the answer or in it. */
function isCut(error: unknown): boolean {
  if (error instanceof ApiFault) return false
  if (error instanceof Fault) return error.exitCode === EXIT.noConnection
  return ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')
}
