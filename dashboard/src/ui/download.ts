/** Has the browser save what is at an address, under the name that its answer gives unless one is given here. */
export function download(address: string, name = ''): void {
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
}

/** Has the browser save a text, or bytes, as a file. */
export function downloadText(content: string | Uint8Array<ArrayBuffer>, name: string): void {
  const type = typeof content === 'string' ? 'text/plain' : 'application/octet-stream'
  const address = URL.createObjectURL(new Blob([content], { type }))
  download(address, name)
  URL.revokeObjectURL(address)
}
