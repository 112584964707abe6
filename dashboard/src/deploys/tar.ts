/** A file to put into an archive. */
export interface TarFile {
  /** In the archive, with slashes. */
  path: string
  size: number
  /** Seconds. */
  modifiedAt: number
  stream: () => ReadableStream<Uint8Array>
}

/** POSIX.1-2017, pax, "ustar Interchange Format". */
const BLOCK_BYTES = 512
const NAME_BYTES = 100
/** Browsers do not say which files are executable, so all of them are. */
const MODE = 0o755

const utf8 = new TextEncoder()

/** The bytes of a tar archive of these files, each read when its turn comes. */
export async function* tarOf(files: Iterable<TarFile>): AsyncGenerator<Uint8Array> {
  for (const { path, size, modifiedAt, stream } of files) {
    const name = utf8.encode(path)
    const isPlain = name.length <= NAME_BYTES && name.length === path.length
    if (!isPlain) {
      const record = paxRecord('path', path)
      yield header(utf8.encode('pax'), record.length, modifiedAt, 'x')
      yield record
      yield padding(record.length)
    }
    yield header(name.subarray(0, NAME_BYTES), size, modifiedAt, '0')
    let sent = 0
    for await (const piece of piecesOf(stream())) {
      sent += piece.length
      yield piece
    }
    if (sent !== size) throw new Error(`${path} changed while it was being read. Choose the folder again.`)
    yield padding(size)
  }
  yield new Uint8Array(2 * BLOCK_BYTES)
}

/** Not every browser can iterate a stream. */
async function* piecesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value
}

function header(name: Uint8Array, size: number, modifiedAt: number, type: '0' | 'x'): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES)
  const put = (at: number, text: string) => block.set(utf8.encode(text), at)
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  block.set(name, 0)
  put(100, octal(MODE, 7))
  put(108, octal(0, 7))
  put(116, octal(0, 7))
  put(124, octal(size, 11))
  put(136, octal(Math.max(0, Math.floor(modifiedAt)), 11))
  put(148, ' '.repeat(8))
  put(156, type)
  put(257, 'ustar\x0000')
  const sum = block.reduce((total, byte) => total + byte, 0)
  put(148, `${octal(sum, 6)}\0 `)
  return block
}

/** "30 path=…\n": the length counts its own digits. */
function paxRecord(key: string, value: string): Uint8Array {
  const rest = utf8.encode(` ${key}=${value}\n`).length
  let length = rest + String(rest).length
  if (rest + String(length).length > length) length++
  return utf8.encode(`${length} ${key}=${value}\n`)
}

function padding(size: number): Uint8Array {
  return new Uint8Array((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES)
}
