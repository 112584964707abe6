/**
 * Copies text. The clipboard API exists on secure origins only, and the dashboard may be reached over plain HTTP, so
 * the old command is the fallback there.
 */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  }
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  area.style.opacity = '0'
  // A dialog takes the focus back from whatever is outside it, and nothing would be selected.
  const place = focused?.closest('[role=dialog]') ?? document.body
  place.append(area)
  area.focus({ preventScroll: true })
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  return copied
}
