/** Has the browser save what is at an address, under the name that its answer gives unless one is given here. */
export function download(address: string, name = ''): void {
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
}

/** Has the browser save a text as a file. */
export function downloadText(text: string, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  download(address, name)
  URL.revokeObjectURL(address)
}
