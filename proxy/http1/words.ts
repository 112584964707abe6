/** Words of four bytes of a buffer, wherever they begin: read and compared in a quarter of the steps. */
export class Words {
  #buffer: Uint8Array | null = null
  #view: DataView = new DataView(new ArrayBuffer(0))

  /** Most heads stand in the same few buffers: a view of the last is at hand. */
  of(buffer: Uint8Array): DataView {
    if (this.#buffer === buffer) return this.#view
    this.#buffer = buffer
    this.#view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    return this.#view
  }
}
