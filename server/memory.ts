/**
 * Frees a piece of a stream that nothing else uses any more, if it has memory of its own. The garbage collector alone let
 * 70 MiB of them accumulate in an upload of 512 MiB (measured).
 */
export function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
