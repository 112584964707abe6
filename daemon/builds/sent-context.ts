import { Readable, type Writable } from 'node:stream'
import { messageOf } from '#server/errors.ts'
import { pump } from '../reader/pump.ts'
import { PACK_CONTEXT } from './reader-calls.ts'
import type { Recipe } from './recipe.ts'
import type { SourceTree } from './source-tree.ts'

/** A build context on its way from the process that packs it to the engine. */
export class SentContext {
  readonly tar: Readable
  /** Why the tar ended early; undefined when it did not. */
  fault: unknown

  /** With `isSeparate`, the Dockerfile is sent apart from it. `onNote` gets notes for the build's log. */
  constructor(
    source: SourceTree,
    recipe: Pick<Recipe, 'file' | 'needsWhole'>,
    isSeparate: boolean,
    onNote: (note: string) => void,
  ) {
    this.tar = freeing(Readable.from(this.#pack(source, recipe, isSeparate, onNote), { objectMode: false }))
  }

  async *#pack(
    source: SourceTree,
    { file, needsWhole }: Pick<Recipe, 'file' | 'needsWhole'>,
    isSeparate: boolean,
    onNote: (note: string) => void,
  ): AsyncGenerator<Buffer> {
    if (file === null) throw new Error('there is nothing to build')
    const root = needsWhole ? source.place.directory : source.root
    const packed = source.ask(PACK_CONTEXT, { root, file, isSeparate })
    packed.then(
      (notes) => {
        for (const note of notes) onNote(note)
        return source.release()
      },
      (error: unknown) => {
        this.fault = error
        // The output may not have begun.
        source.reader.output.destroy(error instanceof Error ? error : new Error(messageOf(error)))
      },
    )
    yield* source.reader.output as AsyncIterable<Buffer>
    // The output also ends when the process is killed: part of a tar must never pass for all of it.
    await packed
  }
}

/**
 * Frees each piece as soon as it is written when the stream is piped, as docker-modem does. The garbage collector alone lets
 * 50 to 120 MiB of a context of 160 MiB accumulate. Only for pieces that nothing else refers to.
 */
function freeing(tar: Readable): Readable {
  const pipe = (sink: Writable): Writable => {
    // The caller of pipe handles errors itself.
    pump(tar, sink, () => {}).done.catch(() => {})
    return sink
  }
  return Object.assign(tar, { pipe })
}
